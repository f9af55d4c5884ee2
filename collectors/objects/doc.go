// Package objects reports the state of a cluster's objects from the events of informers that watch them: Leases and their
// holders, terminating objects by the finalizer that blocks them, and observed generation lag.
//
//	collector.go      Collector and its limits
//	handler.go        Handler, for any informer: terminating objects, observed generation lag
//	generation_times.go  times from generations to their observation
//	lease_handler.go  LeaseHandler, for informers of Leases: held and expired Leases
//	lease.go          a Lease: its holder and expiry
//	lease_names.go    the Leases with their own series
//	share.go          room for series, shared equally between namespaces
//	tally.go          objects by labels, and the oldest of each group
//	ranking.go        values ordered by a rank that changes
//	timeline.go       values ordered by time
//	values.go         values of labels with a closed set
//	object.go         the part of an object that informers keep
//	identity.go       UIDs and resource versions as numbers
//	unkept.go         the rest of metav1.Object, which is not kept
//	schema.go         resources with status.observedGeneration, from the OpenAPI documents of the API server
//	documents.go      the OpenAPI documents of the API server
//
// A handler remembers only Leases, terminating objects and objects that lag, so a scrape does not iterate over all objects. An
// event of any other object costs a lookup by name and no allocation.
//
// Times are read from the clock of this process. The only timestamp of an object that is compared with them is the
// deletionTimestamp, which the API server writes.
package objects
