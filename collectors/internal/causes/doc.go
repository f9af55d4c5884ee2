// Package causes carries the causes of reconciles through work queues, alongside the items: the events that a handler processed
// when it added an item, and the previous attempts. A queue holds each item once, however often it was added, so a reconcile may
// have many causes. The reconcile is a new trace with links to all of them.
//
// Programs without tracing do not use it. With tracing, an item that is not recorded costs a few atomic loads, and a random
// number if the Tracer implements spans.Sampler.
//
//	store.go     Queue: the causes of a queue's items. Store: the spans of their reconciles, of all queues of a controller
//	reconciles.go the spans for a reconcile function
//	registry.go  the Stores of an Observer, which the queue and the reconcile function of a controller share
//	object.go    the object that an item refers to
package causes
