// Package tracing exports the spans of a controller with OpenTelemetry: lists and events of informers, queues, reconciles,
// requests to the API server, and finalizer cleanups.
//
//	setup.go        Setup: a provider configured by OTEL_* variables
//	env.go          the OTEL_* variables that turn tracing on and choose the sampler
//	provider.go     Provider: a trace.TracerProvider that decides on a root span before it creates one
//	sampler.go      the sampler: by parents, links and a ratio
//	tail.go         Tail: slow and failed reconciles at any ratio
//	export.go       the queue of spans to export, and the counts of exported and dropped spans
//	annotations.go  trace contexts in annotations of objects
//	tracer.go       Tracer: the implementation of the interface in package collectors/spans
//	text.go         texts as valid UTF-8 of limited length
//	attributes.go   names, kinds, attributes and links of spans
//	log.go          trace IDs in log lines of slog and logr
//
// A Tracer implements the interface of the library's Options.Tracer:
//
//	provider, err := tracing.Setup(ctx, tracing.Config{ServiceName: "my-controller", Logger: logger})
//	defer provider.Shutdown(context.Background())
//	obs, err := collectors.New(registerer, collectors.Options{Name: "my-controller", Tracer: tracing.NewTracer(provider, tracing.TracerOptions{})})
//
// # Configuration
//
// Tracing is off unless OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set.
// OTEL_SDK_DISABLED=true and OTEL_TRACES_EXPORTER=none turn it off. The OpenTelemetry SDK reads all other variables. One
// default differs: without OTEL_TRACES_SAMPLER, one trace in a hundred is sampled. A busy informer delivers thousands of
// events per second, and the specification's default samples all of them.
//
// # Traces
//
// An event and its reconcile are separate traces. A reconcile may have several causes, and has a link to each of them. A
// reconcile is sampled if one of its causes is sampled; for exceptions, see LinkRelationKey.
package tracing
