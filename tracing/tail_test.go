package tracing

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// tailOnly returns a provider that samples nothing at the start of a trace.
func tailOnly(t *testing.T, tail Tail) (*Provider, *tracetest.InMemoryExporter) {
	t.Helper()
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
	exporter := tracetest.NewInMemoryExporter()
	return newProvider(resource.Empty(), Config{Tail: tail}, sdktrace.NewSimpleSpanProcessor(exporter), &exportCounts{}), exporter
}

func exported(e *tracetest.InMemoryExporter) (names []string) {
	for _, s := range e.GetSpans() {
		names = append(names, s.Name)
	}
	e.Reset()
	return names
}

func TestTail(t *testing.T) {
	provider, exporter := tailOnly(t, Tail{Slow: time.Second, Failed: true})
	tracer := provider.Tracer("test")
	reconcile := func(took time.Duration, err bool) trace.SpanContext {
		begin := time.Now().Add(-took)
		ctx, root := tracer.Start(t.Context(), "reconcile pods", trace.WithTimestamp(begin))
		_, child := tracer.Start(ctx, "update pods")
		if root.SpanContext().IsSampled() || child.SpanContext().IsSampled() {
			t.Fatal("sampled at the start")
		}
		child.End()
		if err {
			root.SetStatus(codes.Error, "refused")
		}
		if got := exported(exporter); got != nil {
			t.Fatalf("exported %q before the reconcile ended", got)
		}
		root.End(trace.WithTimestamp(begin.Add(took)))
		return root.SpanContext()
	}
	whole := []string{"update pods", "reconcile pods"}

	reconcile(999*time.Millisecond, false)
	if got := exported(exporter); got != nil {
		t.Errorf("a fast success exports %q", got)
	}
	id := reconcile(time.Second, false).TraceID()
	for _, s := range exporter.GetSpans() {
		if s.SpanContext.TraceID() != id || !s.SpanContext.IsSampled() {
			t.Errorf("%s: trace %s, sampled %t; want %s and true", s.Name, s.SpanContext.TraceID(), s.SpanContext.IsSampled(), id)
		}
	}
	if got := exported(exporter); !slices.Equal(got, whole) {
		t.Errorf("a slow reconcile exports %q, want %q", got, whole)
	}
	reconcile(0, true)
	if got := exported(exporter); !slices.Equal(got, whole) {
		t.Errorf("a failed reconcile exports %q, want %q", got, whole)
	}

	_, other := tracer.Start(t.Context(), "informer.deliver pods")
	if other.IsRecording() {
		t.Error("a root that is not a reconcile is recorded")
	}
	if dropped := provider.DroppedSpans(); dropped[DroppedTail] != 0 {
		t.Errorf("dropped %v", dropped)
	}
}

// The buffer is bounded, and spans that do not fit are counted. A reconcile that does not fit is still kept if it is slow or failed.
func TestTailIsBounded(t *testing.T) {
	provider, exporter := tailOnly(t, Tail{Failed: true, MaxSpans: 3})
	tracer := provider.Tracer("test")
	start := func() (context.Context, trace.Span) { return tracer.Start(t.Context(), "reconcile pods") }
	child := func(ctx context.Context) {
		_, s := tracer.Start(ctx, "update pods")
		s.End()
	}
	fail := func(s trace.Span) int {
		s.SetStatus(codes.Error, "refused")
		s.End()
		return len(exported(exporter))
	}
	ctx, root := start()
	child(ctx)
	child(ctx)
	child(ctx) // no room
	fullCtx, full := start()
	child(fullCtx)
	if got := provider.DroppedSpans()[DroppedTail]; got != 2 {
		t.Errorf("dropped %d spans, want 2", got)
	}
	if got := fail(full); got != 1 {
		t.Errorf("exported %d spans of the reconcile without room, want its own", got)
	}
	_, late := tracer.Start(ctx, "update pods") // ends after its reconcile
	if got := fail(root); got != 3 {
		t.Errorf("exported %d spans, want 3", got)
	}
	late.End()
	if got := provider.DroppedSpans()[DroppedTail]; got != 2 {
		t.Errorf("dropped %d spans, want 2: for the late one there was room", got)
	}
	// The buffer is empty again.
	ctx, root = start()
	child(ctx)
	child(ctx)
	if got := fail(root); got != 3 {
		t.Errorf("exported %d spans after the buffer was full, want 3", got)
	}
}

// After its end, a reconcile that is kept is sampled, so that its histogram gets an exemplar.
func TestTailExemplar(t *testing.T) {
	provider, exporter := tailOnly(t, Tail{Failed: true})
	for _, failed := range []bool{false, true} {
		s := NewTracer(provider, TracerOptions{}).Start(t.Context(), spans.Operation{Kind: spans.Reconcile, Name: "pods"})
		if s.SpanContext().Sampled {
			t.Error("sampled at the start")
		}
		s.End(spans.Result{Failed: failed})
		if got, n := s.SpanContext().Sampled, len(exported(exporter)); got != failed || n > 0 != failed {
			t.Errorf("failed: %t: sampled is %t, %d spans exported", failed, got, n)
		}
	}
	if n := len(provider.tail.kept); n != 0 {
		t.Errorf("%d decisions are remembered", n)
	}
}

// Shutdown counts the spans of running reconciles, and frees them.
func TestTailShutdown(t *testing.T) {
	provider, exporter := tailOnly(t, Tail{Failed: true})
	tracer := provider.Tracer("test")
	ctx, root := tracer.Start(t.Context(), "reconcile pods")
	for range 2 {
		_, child := tracer.Start(ctx, "update pods")
		child.End()
	}
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	root.SetStatus(codes.Error, "refused")
	root.End()
	if got, n := provider.DroppedSpans(), len(exported(exporter)); got[DroppedShutdown] != 2 || n != 0 {
		t.Errorf("dropped %v, exported %d spans; want 2 dropped by the shutdown", got, n)
	}
}

// BenchmarkTail measures the cost of a reconcile with one request that is recorded but not kept.
func BenchmarkTail(b *testing.B) {
	for name, tail := range map[string]Tail{"off": {}, "on": {Slow: time.Hour}} {
		b.Run(name, func(b *testing.B) {
			b.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
			provider := newProvider(resource.Empty(), Config{Tail: tail}, sdktrace.NewSimpleSpanProcessor(tracetest.NewNoopExporter()), &exportCounts{})
			tracer := provider.Tracer("test")
			b.ReportAllocs()
			for b.Loop() {
				ctx, root := tracer.Start(b.Context(), "reconcile pods")
				_, child := tracer.Start(ctx, "update pods")
				child.End()
				root.End()
			}
		})
	}
}
