package otlp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/tracing"
)

const service = "traced-controller"

func jaeger(t *testing.T) *stack.Jaeger {
	t.Helper()
	j, err := stack.StartJaeger(t.Context(), stack.JaegerOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return j
}

// setup returns a provider with the environment of a traced program.
func setup(t *testing.T, protocol, endpoint string, environment map[string]string) *tracing.Provider {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_on")
	for key, value := range environment {
		t.Setenv(key, value)
	}
	p, err := tracing.Setup(t.Context(), tracing.Config{ServiceName: service, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTracesArrive(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real server; not run with -short")
	}
	j := jaeger(t)
	for protocol, endpoint := range map[string]string{"grpc": j.GRPC, "http/protobuf": j.HTTP} {
		t.Run(protocol, func(t *testing.T) {
			p := setup(t, protocol, endpoint, nil)
			tracer := p.Tracer("test")
			_, event := tracer.Start(t.Context(), "informer.deliver pods")
			event.End()
			ctx, reconcile := tracer.Start(t.Context(), "reconcile pods", trace.WithLinks(trace.Link{SpanContext: event.SpanContext()}))
			_, request := tracer.Start(ctx, "PATCH pods")
			request.End()
			reconcile.RecordError(errors.New("conflict"))
			reconcile.SetStatus(codes.Error, "conflict")
			reconcile.End()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if err := p.Shutdown(ctx); err != nil { // flushes
				t.Fatal(err)
			}
			if p.ExportedSpans() != 3 {
				t.Errorf("exported %d spans, want 3; dropped %v", p.ExportedSpans(), p.DroppedSpans())
			}
			var spans []stack.TraceSpan
			await.NoError(t, "trace in Jaeger", func() (err error) {
				spans, err = j.Trace(t.Context(), reconcile.SpanContext().TraceID().String())
				if err == nil && len(spans) < 2 {
					err = errors.New("not all spans have arrived")
				}
				return err
			})
			root, child := spans[0], spans[1]
			if len(spans) != 2 || root.Name != "reconcile pods" || root.Service != service || root.Tags["error"] != "true" {
				t.Errorf("got %+v, want a failed reconcile of %s and its request", spans, service)
			}
			if child.Name != "PATCH pods" || child.Parent != root.SpanID {
				t.Errorf("got %+v, want a child of %s", child, root.SpanID)
			}
			if want := event.SpanContext().TraceID().String(); len(root.Links) != 1 || root.Links[0] != want {
				t.Errorf("links to %q, want %s", root.Links, want)
			}
			await.NoError(t, "the trace that the link leads to", func() error { // Jaeger stores one trace after the other
				delivered, err := j.Trace(t.Context(), event.SpanContext().TraceID().String())
				if err == nil && len(delivered) != 1 {
					err = fmt.Errorf("it is %+v", delivered)
				}
				return err
			})
		})
	}
}
