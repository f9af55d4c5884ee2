// Package reads counts the reads of a store.
//
// Controllers read a store from many goroutines at once. A counter that they share costs more than the read itself, because
// its cache line moves between processors. A Counter therefore has many cache lines, and each goroutine mostly uses its own.
package reads
