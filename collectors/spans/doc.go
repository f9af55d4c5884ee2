// Package spans is the interface between the library and a tracing system. Package tracing implements it with OpenTelemetry;
// implement Tracer for another system. The package has no dependencies, so that programs without tracing do not link one.
package spans
