// Package spans is the interface between the library and a tracing system. Package tracing implements it with OpenTelemetry.
// The library and package tracing do not import each other. This package has no dependencies.
//
//	tracer.go     Tracer and Span, which an implementation provides
//	sampler.go    Sampler, for a Tracer that decides before Start
//	counter.go    Counter, for a Tracer that counts its spans
//	operation.go  Operation, Link and Result, which describe a span at its start and its end
package spans
