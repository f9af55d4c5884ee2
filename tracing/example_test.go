package tracing_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/tracing"
)

// sampled returns a context with a sampled span, as a reconcile function gets it.
func sampled() context.Context {
	traceID, _ := trace.TraceIDFromHex("4bf92f3577b34da6a3ce929d0e0e4736")
	spanID, _ := trace.SpanIDFromHex("00f067aa0ba902b7")
	return trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceID, SpanID: spanID, TraceFlags: trace.FlagsSampled,
	}))
}

// OTEL_EXPORTER_OTLP_ENDPOINT turns tracing on. Without it, nothing is traced, and the tracer costs nothing.
func ExampleSetup() {
	ctx := context.Background()
	provider, err := tracing.Setup(ctx, tracing.Config{ServiceName: "my-controller"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = provider.Shutdown(ctx) }()

	obs, err := collectors.New(prometheus.NewRegistry(), collectors.Options{
		Name:   "my-controller",
		Tracer: tracing.NewTracer(provider, tracing.TracerOptions{}),
	})
	_, _ = obs, err // decorate informers, queues and reconcile functions with obs
}

// The context of a reconcile adds its trace to a log line.
func ExampleNewLogHandler() {
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(tracing.NewLogHandler(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime})))

	logger.InfoContext(sampled(), "updated", "widget", "shop/web")
	// Output:
	// level=INFO msg=updated trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7 widget=shop/web
}

// A reconcile annotates an object that it creates, and the controller of that object links to its trace.
func ExampleAnnotate() {
	annotations := tracing.Annotate(sampled(), map[string]string{"example.com/owner": "web"})
	fmt.Println(annotations[tracing.TraceparentAnnotation])
	fmt.Println(tracing.FromAnnotations(annotations).TraceID())
	// Output:
	// 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
	// 4bf92f3577b34da6a3ce929d0e0e4736
}
