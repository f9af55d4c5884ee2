package spans

import "time"

// Kind is a kind of operation.
type Kind uint8

const (
	// List is a complete list of an informer, with all its pages.
	List Kind = iota + 1
	// Deliver is an event on its way to one handler: from its receipt until the handler has returned.
	Deliver
	// Wait is the time of an item in a work queue. Its parent is the Reconcile of the item.
	Wait
	// Reconcile is the processing of an item. Its links are the causes.
	Reconcile
	// Request is a request to the API server, without client-side throttling. A watch ends with its response headers.
	Request
	// Cleanup is a finalizer cleanup.
	Cleanup
	// Rollback is the rollback of a finalizer cleanup.
	Rollback
)

// Operation describes a span at its start. Except for Traceparent, Start and Links, all values have a low cardinality.
type Operation struct {
	Kind Kind
	// Name is the resource of a List, Deliver or Request ("pods", "deployments.apps"), the queue of a Wait, and the
	// controller of a Reconcile, Cleanup or Rollback.
	Name string
	// WatchNamespace is the scope of the informer of a List or Deliver: a namespace, or "*" for all.
	WatchNamespace string
	// Handler is the event handler of a Deliver.
	Handler string
	// Event is the type of a delivered event: "added", "modified" or "deleted".
	Event string
	// Traceparent is the annotation tracing.k8s.io/traceparent of the object of a Deliver, in the format of W3C Trace Context, "" if
	// it has none. Clients that may edit the object control its value.
	Traceparent string
	// Finalizer is the finalizer of a Cleanup or Rollback.
	Finalizer string
	// Verb and Subresource are those of a Request: "update", "status".
	Verb, Subresource string
	// Method is the HTTP method of a Request.
	Method string
	// Start is when the operation began, zero for now.
	Start time.Time
	// Decided is set if Sampler.Sample has decided on the operation, and Sampled if it is sampled.
	Decided, Sampled bool
	// Links are the causes of a Reconcile, and the List that a Deliver is from. The span should be recorded if one of them is sampled
	// and its relation is neither Requeued nor Listed. The slice must not be retained.
	Links []Link
	// LinksDropped is the number of causes that are missing from Links, because there were too many.
	LinksDropped int
}

// Link refers to a cause of an operation.
type Link struct {
	SpanContext
	Relation Relation
}

// Relation is the kind of a cause.
type Relation uint8

const (
	// Event is the delivery of an event to a handler.
	Event Relation = iota
	// Retried is the previous attempt, which failed.
	Retried
	// Requeued is the previous attempt, which requested another one. It does not make the Reconcile sampled: a controller that
	// requeues periodically would be sampled forever.
	Requeued
	// Listed is the list with the object of a Deliver. It does not make the Deliver sampled: a list may have thousands of objects.
	Listed
)

// Samples reports whether a sampled cause makes the operation sampled.
func (r Relation) Samples() bool { return r != Requeued && r != Listed }

// Result describes the end of a span.
type Result struct {
	// Result is the result label of the operation's metric, such as "success" or "requeue_after". It may be empty.
	Result string
	// Failed is set if the operation failed or panicked.
	Failed bool
	// ErrorType is a class of errors, empty without an error.
	ErrorType string
	// Err is the error, nil if there is none. Its text is unbounded and may be confidential.
	Err error
	// Code is the status code of a Request, 0 without a response.
	Code int
	// Items is the number of objects of a List.
	Items int
	// End is when the operation ended, zero for now.
	End time.Time
}
