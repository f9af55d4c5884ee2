// Package otlp tests the export of traces to Jaeger, which has the OTLP receiver of the OpenTelemetry Collector, and what faults of
// the receiver do to the traced program. It has only tests.
package otlp
