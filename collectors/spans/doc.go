// Package spans is the interface between the library and a tracing system. Package tracing implements it with OpenTelemetry.
// The library and package tracing do not import each other. This package has no dependencies.
package spans
