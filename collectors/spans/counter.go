package spans

// Counter is implemented by a Tracer that counts its spans. The library reports the counts as metrics.
type Counter interface {
	// ExportedSpans returns the number of spans that the receiver has accepted.
	ExportedSpans() uint64
	// DroppedSpans returns the number of dropped spans by reason, or nil if the Tracer is off. The reasons are those of
	// controller_trace_spans_dropped_total; others are ignored.
	DroppedSpans() map[string]uint64
}
