// Package tracing reports delivered informer events as OpenTelemetry spans.
//
//	setup.go     Setup: a provider from the OTEL_* environment; the only file that imports the SDK and the exporters
//	env.go       which OTEL_* variables switch tracing on and choose the sampler
//	provider.go  Provider: a trace.TracerProvider that can decide on a root span before there is one
//	tracer.go    Tracer: one span for each delivery of an event to a handler
//
// A Tracer satisfies the interface that the library's Options.Tracer asks for, without either package importing the
// other:
//
//	provider, err := tracing.Setup(ctx, tracing.Config{ServiceName: "my-controller", Logger: logger})
//	defer provider.Shutdown(context.Background())
//	obs, err := collectors.New(registerer, collectors.Options{Name: "my-controller", Tracer: tracing.NewTracer(provider)})
//
// # What decides
//
// Nothing is traced unless OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is
// set; OTEL_SDK_DISABLED=true and OTEL_TRACES_EXPORTER=none switch it off again. Everything else is read by
// OpenTelemetry itself, with one other default: without OTEL_TRACES_SAMPLER one trace in a hundred is kept, because a
// busy informer delivers thousands of events a second and the specification's default keeps them all.
//
// Spans have no parent. Watch events carry no trace context, and an event that arrives later has no request to be part
// of.
package tracing
