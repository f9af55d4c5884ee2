package collectors

import "time"

// Tracer follows events from the watch into handlers. The package tracing has an implementation on OpenTelemetry; this
// package knows none.
type Tracer interface {
	// Deliver is called just before a handler gets an event of a watch or an object of a list, on the goroutine of the
	// handler. received is when it was read from the server. The event is "added", "modified" or "deleted".
	//
	// If end is not nil, it is called once the handler has returned or panicked. traceID is the id to attach to the
	// histograms as an exemplar, empty if the trace is not sampled; one of more than 64 bytes is ignored. An implementation must be safe for concurrent use and
	// should not allocate if it does not sample.
	Deliver(informerType, namespace, handler, event string, received time.Time) (end func(panicked bool), traceID string)
}
