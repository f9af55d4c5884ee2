// Package audit compares the cache of an informer with the API server and with itself. It has no metrics and no schedule:
//
//	freshness.go    changes that a short second watch delivers and the store lacks
//	compare.go      differences between the store and a LIST at exactly the store's resourceVersion
//	index.go        differences between the indexes of a store and its objects
//	mutation.go     cached objects that a consumer has changed in place
//	store.go        stores with a resourceVersion
//	differences.go  sets of differences
//	values.go       values of labels with a closed set
//
// Nothing here writes to a store, holds a lock during a request, or starts a goroutine. Functions that read a store hold its read
// lock as List does, for a few milliseconds per 100,000 objects. Values are not safe for concurrent use.
package audit
