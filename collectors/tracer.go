package collectors

import "time"

// Tracer traces events from the watch to the handlers. The package tracing implements it with OpenTelemetry.
type Tracer interface {
	// Deliver is called just before a handler receives an event of a watch or an object of a list. received is when the event
	// was read from the API server. The event is "added", "modified" or "deleted".
	//
	// If end is not nil, it is called when the handler has returned or panicked. traceID becomes an exemplar of the
	// histograms; it is empty if the trace is not sampled, and ignored above 64 bytes.
	//
	// Deliver and end run on the goroutine of the handler: a Tracer that blocks also blocks the handler. A panic in either is
	// recovered, and logged the first time; the span is lost and the event is still delivered. An implementation
	// must be safe for concurrent use and should not allocate if it does not sample.
	Deliver(informerType, watchNamespace, handler, event string, received time.Time) (end func(panicked bool), traceID string)
}
