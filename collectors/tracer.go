package collectors

import "time"

// Tracer follows events from the watch into handlers. The package tracing has an implementation on OpenTelemetry.
type Tracer interface {
	// Deliver is called just before a handler receives an event of a watch or an object of a list. received is when the event
	// was read from the API server. The event is "added", "modified" or "deleted".
	//
	// If end is not nil, it is called when the handler has returned or panicked. traceID becomes an exemplar of the
	// histograms; it is empty if the trace is not sampled, and ignored above 64 bytes.
	//
	// Deliver and end run on the goroutine of the handler: a Tracer that blocks holds up the handler. A panic in either is
	// recovered, logged the first time, and costs only the span: the event is delivered all the same. An implementation
	// must be safe for concurrent use and should not allocate if it does not sample.
	Deliver(informerType, watchNamespace, handler, event string, received time.Time) (end func(panicked bool), traceID string)
}
