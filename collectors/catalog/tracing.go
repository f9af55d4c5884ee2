package catalog

var labelSpanDropReason = closed("reason", "why the span was dropped", "queue_full", "export_error", "shutdown", "tail_buffer_full")

// Traces of programs that set Options.Tracer.
var (
	TraceSpansExported = counter(familyTracing, Metric{
		Name:   "controller_trace_spans_exported_total",
		Help:   "Number of trace spans of the process that the receiver has accepted.",
		Notes:  "The same for each Observer of a Tracer: do not add them up. Absent without tracing.",
		Labels: []Label{LabelName},
	})
	TraceSpansDropped = counter(familyTracing, Metric{
		Name:   "controller_trace_spans_dropped_total",
		Help:   "Number of dropped trace spans of the process, by reason.",
		Notes:  "The same for each Observer of a Tracer: do not add them up. `queue_full`: OTEL_BSP_MAX_QUEUE_SIZE spans were waiting. `export_error`: the receiver rejected them or timed out. `shutdown`: the deadline of Shutdown was exceeded. `tail_buffer_full`: Tail.MaxSpans spans were held.",
		Labels: []Label{LabelName, labelSpanDropReason},
		AtZero: []string{"queue_full", "export_error", "shutdown", "tail_buffer_full"},
	})
)
