// Package tracing exports the spans of a controller with OpenTelemetry: lists and events of informers, queues, reconciles,
// requests to the API server, and finalizer cleanups. NewTracer returns a value for collectors.Options.Tracer:
//
//	provider, err := tracing.Setup(ctx, tracing.Config{ServiceName: "my-controller", Logger: logger})
//	defer provider.Shutdown(context.Background())
//	obs, err := collectors.New(registerer, collectors.Options{Name: "my-controller", Tracer: tracing.NewTracer(provider, tracing.TracerOptions{})})
//
// # Configuration
//
// Tracing is off unless OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set.
// OTEL_SDK_DISABLED=true and OTEL_TRACES_EXPORTER=none turn it off. The OpenTelemetry SDK's other variables apply. Without
// OTEL_TRACES_SAMPLER, one trace in a hundred is sampled because a busy informer delivers thousands of events per second. The
// specification's default is every trace.
//
// # Traces
//
// An event and its reconcile are separate traces. A reconcile may have several causes, and has a link to each of them. It is
// sampled if one of its causes is sampled; for exceptions, see LinkRelationKey.
package tracing
