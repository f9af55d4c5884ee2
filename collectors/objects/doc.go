// Package objects reports the state of a cluster's objects: Leases and their holders, terminating objects by the finalizer that
// blocks them, and observed generation lag. Its handlers are added to informers of the whole cluster, as in the exporter.
//
// A handler remembers only Leases, terminating objects and objects that lag, so a scrape does not iterate over all objects. An
// event of any other object costs a lookup by name and no allocation.
//
// Times are read from the clock of this process. They are compared with only one timestamp of the API server, the deletionTimestamp.
//
// Experimental: the API may change in any release.
package objects
