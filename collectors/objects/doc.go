// Package objects reports the state of a cluster's objects from the events of informers that watch them: Leases and their
// holders, terminating objects by the finalizer that blocks them, and observed generation lag.
//
// A handler remembers only Leases, terminating objects and objects that lag, so a scrape does not iterate over all objects. An
// event of any other object costs a lookup by name and no allocation.
//
// Times are read from the clock of this process. The only timestamp of an object that is compared with them is the
// deletionTimestamp, which the API server writes.
package objects
