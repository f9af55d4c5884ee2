// Package objects tells what is the matter with the objects of a cluster, from the events of informers that watch them:
// Leases that nobody renews, objects that are held in deletion, and objects whose controller lags behind their spec.
//
//	collector.go   Collector: what is reported, and how much of it
//	leases.go      the handler of an informer of Leases: which are held, and which have expired
//	lease.go       a Lease: who holds it, since when, and for how long
//	kind.go        the handler of any other informer: which of its objects are held in deletion, or lag behind
//	tally.go       those objects by labels, with the oldest of each group
//	timeline.go    things in the order of their times
//	object.go      what an informer keeps of an object, of all that it is sent
//	schema.go      which resources have status.observedGeneration, by the server's OpenAPI description
//
// Only what is of interest is held, so that a scrape does not look at all objects, and an event about an object that
// nothing is the matter with costs the look-up of its name and no allocation.
//
// Times are those of the exporter. Of what is written in objects, only the deletionTimestamp is compared with them, which
// is the API server's.
package objects
