// Package tracing exports delivered informer events as OpenTelemetry spans.
//
//	setup.go     Setup: a provider configured by OTEL_* variables; the only file that imports the SDK and the exporters
//	env.go       the OTEL_* variables that turn tracing on and choose the sampler
//	provider.go  Provider: a trace.TracerProvider that decides on a root span before it creates one
//	tracer.go    Tracer: one span per event and handler
//
// A Tracer implements the interface of the library's Options.Tracer; neither package imports the other:
//
//	provider, err := tracing.Setup(ctx, tracing.Config{ServiceName: "my-controller", Logger: logger})
//	defer provider.Shutdown(context.Background())
//	obs, err := collectors.New(registerer, collectors.Options{Name: "my-controller", Tracer: tracing.NewTracer(provider)})
//
// # Configuration
//
// Tracing is off unless OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set.
// OTEL_SDK_DISABLED=true and OTEL_TRACES_EXPORTER=none turn it off again. OpenTelemetry reads all other variables, with
// one different default: without OTEL_TRACES_SAMPLER one trace in a hundred is sampled. A busy informer delivers thousands
// of events a second, and the specification's default samples all of them.
//
// Spans have no parent: watch events carry no trace context.
package tracing
