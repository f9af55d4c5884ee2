// Package checks compares the cache of an informer with the API server and with itself, at intervals.
//
// Package audit has the comparisons, package schedule the intervals.
package checks
