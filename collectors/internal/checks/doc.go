// Package checks compares the cache of an informer with the API server and with itself, at intervals.
//
//	checks.go      Checks of one informer, and the state that the informers of an Observer share
//	freshness.go   freshness checks: a short second watch, or events on the informer's own watch
//	rotation.go    which informer is checked next
//	version.go     the version of a store that may hang
//	syncs.go       initial syncs, for which first audits wait
//	audits.go      audits: a list at the version of the store, and the indexes
//	verify.go      checks on demand
//	mutations.go   sampled objects that were modified in place
//	metrics.go     the series of checks
//	values.go      values of labels with a closed set
//
// Package audit has the comparisons, package schedule the intervals.
package checks
