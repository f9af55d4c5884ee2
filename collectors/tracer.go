package collectors

import "github.com/informer-exporter/informer-exporter/collectors/spans"

// Tracer starts spans for lists, deliveries of events, reconciles, requests and finalizer cleanups. The package tracing
// implements it with OpenTelemetry.
type Tracer = spans.Tracer
