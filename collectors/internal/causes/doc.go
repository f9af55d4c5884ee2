// Package causes carries the causes of reconciles through work queues, alongside the items: the events that a handler processed
// when it added an item, and the previous attempts. A queue holds each item once, however often it was added, so a reconcile may
// have many causes. The reconcile is a new trace with links to all of them.
//
// Programs without tracing do not use it. With tracing, an item that is not recorded costs a few atomic loads, and a random
// number if the Tracer implements spans.Sampler.
package causes
