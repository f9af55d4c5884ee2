// Package core is shared by the packages of decorators. A collectors.Observer wraps a core.Observer, which decorators get from
// obs.Core().
//
//	observer.go   Observer: clock, logger, tracer and metrics of one program
//	options.go    Options, and Checks, Limits and Tracer, which are documented in collectors
//	part.go       Part: the state of one package of decorators, collected in a scrape
//	labels.go     Labels: limits for the values of open labels
//	vectors.go    Vectors: metrics of the catalog as Prometheus vectors
//	upstream.go   client-go's own metrics, for Options.UpstreamMetrics
//	value.go      conversions to Prometheus values: seconds, booleans, timestamps
package core
