// Package core is shared by the packages of decorators. A collectors.Observer wraps a core.Observer, which decorators get from
// obs.Core().
//
//	observer.go   Observer: clock, logger, tracing and metrics of one program
//	options.go    Options, and Checks and Limits, which are documented in collectors
//	tracing.go    Tracing and Span: the Tracer of the program, guarded against its panics
//	traceparent.go trace contexts in annotations of objects
//	deliveries.go deliveries in progress, by goroutine: the causes of items that handlers add to queues
//	exemplar.go   observations with exemplars
//	part.go       Part: the state of one package of decorators, collected in a scrape
//	labels.go     Labels: limits for the values of open labels
//	vectors.go    Vectors: metrics of the catalog as Prometheus vectors
//	histograms.go Histograms: classic and native buckets
//	lazy.go       series that are created by their first use
//	discard.go    Discard: series that are not reported
//	upstream.go   client-go's own metrics, for Options.UpstreamMetrics
//	value.go      conversions to Prometheus values: seconds, booleans, timestamps
package core
