package tracing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// inMemory returns a provider configured by the environment, and the exporter that receives its spans.
func inMemory(t *testing.T) (*Provider, *tracetest.InMemoryExporter) {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := newProvider(resource.Empty(), Config{}, sdktrace.NewSimpleSpanProcessor(exporter), &exportCounts{})
	t.Cleanup(func() { _ = provider.Shutdown(t.Context()) })
	return provider, exporter
}

// deliver is a delivery without optional fields.
var deliver = spans.Operation{Kind: spans.Deliver, Name: "deployments.apps", WatchNamespace: "*", Handler: "exporter", Event: "modified"}

func TestOperations(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	start := time.Now().Add(-3 * time.Second)
	end := start.Add(time.Second)
	failure := errors.New(`configmaps "secret-plan" not found`)
	for _, tc := range []struct {
		operation  spans.Operation
		result     spans.Result
		name       string
		kind       trace.SpanKind
		status     sdktrace.Status
		attributes []attribute.KeyValue
	}{
		{
			operation: deliver,
			name:      "informer.deliver deployments.apps", kind: trace.SpanKindConsumer,
			attributes: []attribute.KeyValue{
				attribute.String("informer.type", "deployments.apps"), attribute.String("informer.handler", "exporter"), attribute.String("informer.event", "modified"),
			},
		},
		{
			operation: spans.Operation{Kind: spans.List, Name: "pods", WatchNamespace: "shop"},
			result:    spans.Result{Items: 7},
			name:      "informer.list pods", kind: trace.SpanKindClient,
			attributes: []attribute.KeyValue{
				attribute.String("informer.type", "pods"), attribute.String("k8s.namespace.name", "shop"), attribute.Int("informer.list.items", 7),
			},
		},
		{
			operation: spans.Operation{Kind: spans.Wait, Name: "web"},
			name:      "workqueue.wait web", kind: trace.SpanKindInternal,
			attributes: []attribute.KeyValue{attribute.String("workqueue.name", "web")},
		},
		{
			operation: spans.Operation{Kind: spans.Reconcile, Name: "web", LinksDropped: 2},
			result:    spans.Result{Result: "error", Failed: true, ErrorType: "other", Err: failure},
			name:      "reconcile web", kind: trace.SpanKindConsumer,
			status: sdktrace.Status{Code: codes.Error, Description: "other"},
			attributes: []attribute.KeyValue{
				attribute.String("controller.name", "web"), attribute.Int("links.dropped", 2),
				attribute.String("controller.result", "error"), attribute.String("error.type", "other"),
			},
		},
		{
			operation: spans.Operation{Kind: spans.Request, Verb: "update", Name: "deployments.apps", Subresource: "status", Method: "PUT"},
			result:    spans.Result{Code: 409, Failed: true, ErrorType: "409"},
			name:      "update deployments.apps/status", kind: trace.SpanKindClient,
			status: sdktrace.Status{Code: codes.Error, Description: "409"},
			attributes: []attribute.KeyValue{
				attribute.String("http.request.method", "PUT"), attribute.String("k8s.request.verb", "update"),
				attribute.String("k8s.request.resource", "deployments.apps"), attribute.String("k8s.request.subresource", "status"),
				attribute.Int("http.response.status_code", 409), attribute.String("error.type", "409"),
			},
		},
		{
			operation: spans.Operation{Kind: spans.Cleanup, Name: "web", Finalizer: "example.com/f"},
			result:    spans.Result{Result: "timeout", Failed: true, ErrorType: "timeout"},
			name:      "finalizer.cleanup example.com/f", kind: trace.SpanKindInternal,
			status: sdktrace.Status{Code: codes.Error, Description: "timeout"},
			attributes: []attribute.KeyValue{
				attribute.String("controller.name", "web"), attribute.String("k8s.finalizer", "example.com/f"),
				attribute.String("controller.result", "timeout"), attribute.String("error.type", "timeout"),
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			provider, exporter := inMemory(t)
			ctx, parent := provider.Tracer("test").Start(t.Context(), "parent")
			isChild := tc.operation.Kind != spans.Deliver && tc.operation.Kind != spans.List && tc.operation.Kind != spans.Reconcile
			tc.operation.Start, tc.result.End = start, end
			s := NewTracer(provider, TracerOptions{}).Start(ctx, tc.operation)
			s.SetObject("tenant", "secret-plan")
			s.AddEvent("ready", end)
			s.End(tc.result)
			span := exporter.GetSpans()[0]
			if span.Name != tc.name || span.SpanKind != tc.kind || span.Status != tc.status {
				t.Errorf("got %q, %v, %+v; want %q, %v, %+v", span.Name, span.SpanKind, span.Status, tc.name, tc.kind, tc.status)
			}
			if !span.StartTime.Equal(start) || !span.EndTime.Equal(end) || len(span.Events) != 1 || !span.Events[0].Time.Equal(end) {
				t.Errorf("from %v to %v with events %v", span.StartTime, span.EndTime, span.Events)
			}
			if !slices.Equal(span.Attributes, tc.attributes) {
				t.Errorf("attributes are %v, want %v", span.Attributes, tc.attributes)
			}
			if got := span.Parent.SpanID() == parent.SpanContext().SpanID(); got != isChild {
				t.Errorf("the span in the context is its parent: %t", got)
			}
			if c := s.SpanContext(); c.TraceID != span.SpanContext.TraceID() || c.SpanID != span.SpanContext.SpanID() || !c.Sampled {
				t.Errorf("the span context is %v, want that of %v", c, span.SpanContext)
			}
		})
	}
}

// Names of objects, and texts that contain them, are exported only if enabled.
func TestObjectNames(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	provider, exporter := inMemory(t)
	s := NewTracer(provider, TracerOptions{ObjectNames: true}).Start(t.Context(), deliver)
	s.SetObject("tenant", "plan")
	s.End(spans.Result{Failed: true, ErrorType: "other", Err: errors.New("plan not found")})
	span := exporter.GetSpans()[0]
	for _, want := range []attribute.KeyValue{attribute.String("k8s.namespace.name", "tenant"), attribute.String("k8s.object.name", "plan")} {
		if !slices.Contains(span.Attributes, want) {
			t.Errorf("no %v in %v", want, span.Attributes)
		}
	}
	if span.Status.Description != "plan not found" {
		t.Errorf("status is %+v", span.Status)
	}
}

// A reconcile is sampled if one of its causes is, regardless of the ratio, unless that cause is a requeue. Its rollback is a span
// event.
func TestLinks(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
	provider, exporter := inMemory(t)
	tracer := NewTracer(provider, TracerOptions{})
	sampled := spans.SpanContext{TraceID: [16]byte{1}, SpanID: [8]byte{2}, Sampled: true}
	reconcile := func(links ...spans.Link) spans.Operation {
		return spans.Operation{Kind: spans.Reconcile, Name: "web", Links: links}
	}
	for name, links := range map[string][]spans.Link{
		"none": nil, "requeue": {{SpanContext: sampled, Relation: spans.Requeued}}, "not sampled": {{SpanContext: spans.SpanContext{TraceID: [16]byte{1}, SpanID: [8]byte{2}}}},
	} {
		if s := tracer.Start(t.Context(), reconcile(links...)); s != nil {
			t.Errorf("%s: a span", name)
		}
	}
	s := tracer.Start(t.Context(), reconcile(spans.Link{SpanContext: sampled, Relation: spans.Requeued}, spans.Link{SpanContext: sampled, Relation: spans.Retried}))
	if s == nil {
		t.Fatal("no span")
	}
	tracer.Start(s.Context(t.Context()), spans.Operation{Kind: spans.Rollback, Name: "web", Finalizer: "example.com/f"}).End(spans.Result{})
	s.End(spans.Result{})
	all := exporter.GetSpans()
	root := all[len(all)-1]
	if len(all) != 2 || len(root.Links) != 2 || root.Links[1].SpanContext.TraceID() != sampled.TraceID || root.Links[1].SpanContext.SpanID() != sampled.SpanID ||
		!slices.Contains(root.Links[1].Attributes, LinkRelationKey.String("retried")) {
		t.Fatalf("spans are %+v", all)
	}
	if len(root.Events) != 1 || root.Events[0].Name != "finalizer.rollback" {
		t.Errorf("events of the reconcile are %v", root.Events)
	}
}

// With Tail, a reconcile that is not sampled is recorded, and events are not.
func TestTracerTail(t *testing.T) {
	provider, exporter := tailOnly(t, Tail{Failed: true})
	tracer := NewTracer(provider, TracerOptions{})
	if tracer.Start(t.Context(), deliver) != nil {
		t.Error("an event is recorded")
	}
	s := tracer.Start(t.Context(), spans.Operation{Kind: spans.Reconcile, Name: "web"})
	tracer.Start(s.Context(t.Context()), spans.Operation{Kind: spans.Wait, Name: "web"}).End(spans.Result{})
	s.End(spans.Result{Failed: true})
	if got, want := exported(exporter), []string{"workqueue.wait web", "reconcile web"}; !slices.Equal(got, want) {
		t.Errorf("exported %q, want %q", got, want)
	}
}

// With Tail, a reconcile with causes that are not sampled is recorded but not sampled, regardless of the ratio and of how it is started.
func TestTailFollowsCauses(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
	t.Setenv("OTEL_TRACES_SAMPLER_ARG", "0.9")
	exporter := tracetest.NewInMemoryExporter()
	provider := newProvider(resource.Empty(), Config{Tail: Tail{Failed: true}}, sdktrace.NewSimpleSpanProcessor(exporter), &exportCounts{})
	tracer := NewTracer(provider, TracerOptions{})
	for range 50 {
		start, sampled := tracer.Sample(spans.Reconcile, true)
		if !start || sampled {
			t.Fatalf("start %t, sampled %t; want only the start", start, sampled)
		}
		tracer.Start(t.Context(), spans.Operation{Kind: spans.Reconcile, Name: "web", Decided: true}).End(spans.Result{})
	}
	if got := exported(exporter); got != nil {
		t.Errorf("exported %q", got)
	}
	if start, _ := tracer.Sample(spans.Deliver, true); start {
		t.Error("Tail records an event")
	}
	t.Setenv("OTEL_TRACES_SAMPLER", "traceidratio") // not parent-based
	t.Setenv("OTEL_TRACES_SAMPLER_ARG", "1")
	provider = newProvider(resource.Empty(), Config{}, sdktrace.NewSimpleSpanProcessor(exporter), &exportCounts{})
	tracer = NewTracer(provider, TracerOptions{})
	if _, sampled := tracer.Sample(spans.Reconcile, true); !sampled || tracer.FollowsCauses() {
		t.Error("a sampler that is not parent-based follows causes")
	}
}

// A request, wait or cleanup outside of a recorded span is not recorded: it would be a trace of its own.
func TestChildrenNeedAParent(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	provider, _ := inMemory(t)
	tracer := NewTracer(provider, TracerOptions{})
	for _, kind := range []spans.Kind{spans.Wait, spans.Request, spans.Cleanup, spans.Rollback} {
		if s := tracer.Start(t.Context(), spans.Operation{Kind: kind}); s != nil {
			t.Errorf("kind %d has a span", kind)
		}
	}
}

// A span that is recorded but not sampled must be ended, and must not become an exemplar.
func TestRecordOnly(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithSampler(recordOnly{}))
	s := NewTracer(provider, TracerOptions{}).Start(t.Context(), deliver)
	if s == nil {
		t.Fatal("a recorded span must be ended")
	}
	if s.End(spans.Result{}); s.SpanContext().Sampled {
		t.Error("the span is sampled")
	}
}

type recordOnly struct{}

func (recordOnly) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}
func (recordOnly) Description() string { return "recordOnly" }

func TestNotSampledAllocatesNothing(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	sdk, exporter := inMemory(t)
	for name, provider := range map[string]trace.TracerProvider{
		"sampler says no": sdk,
		"not configured":  &Provider{TracerProvider: noop.NewTracerProvider()},
		"no-op provider":  noop.NewTracerProvider(),
	} {
		t.Run(name, func(t *testing.T) {
			tracer := NewTracer(provider, TracerOptions{})
			for _, kind := range []spans.Kind{spans.Deliver, spans.Reconcile, spans.Request, spans.Wait} {
				o := deliver
				o.Kind, o.Start = kind, time.Now()
				if kind == spans.Deliver {
					o.Traceparent = sampledAnnotation // has no effect, because the sampler is not parent-based
				}
				allocs := testing.AllocsPerRun(1000, func() {
					if start, _ := tracer.Sample(kind, false); start || tracer.IsRecording(t.Context()) || tracer.Start(t.Context(), o) != nil {
						t.Fatal("a span of an operation that is not sampled")
					}
				})
				if allocs != 0 {
					t.Errorf("%v allocations for an operation of kind %d that is not sampled", allocs, kind)
				}
			}
		})
	}
	if n := len(exporter.GetSpans()); n != 0 {
		t.Errorf("%d spans were exported", n)
	}
}

// Sample, Start and the sampler inside the SDK must make one decision: sampling twice would keep one in ten thousand instead
// of one in a hundred.
func TestSamplesOnce(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
	t.Setenv("OTEL_TRACES_SAMPLER_ARG", "0.25")
	annotated := deliver
	annotated.Traceparent = sampledAnnotation
	for name, start := range map[string]func(*Tracer) spans.Span{
		"Start": func(t *Tracer) spans.Span { return t.Start(context.Background(), deliver) },
		"Sample and Start": func(t *Tracer) spans.Span {
			o := deliver
			start, sampled := t.Sample(o.Kind, false)
			if !start {
				return nil
			}
			o.Decided, o.Sampled = true, sampled
			return t.Start(context.Background(), o)
		},
		"annotation": func(t *Tracer) spans.Span { return t.Start(context.Background(), annotated) }, // not followed: the sampler is not parent-based
	} {
		t.Run(name, func(t *testing.T) {
			provider, exporter := inMemory(t)
			tracer := NewTracer(provider, TracerOptions{})
			const events = 8000
			kept := 0
			for range events {
				if s := start(tracer); s != nil {
					s.End(spans.Result{})
					kept++
				}
			}
			if n := len(exporter.GetSpans()); n != kept {
				t.Errorf("%d spans were kept and %d exported", kept, n)
			}
			// Four standard deviations around 2000 are 155.
			if kept < 1845 || kept > 2155 {
				t.Errorf("kept %d of %d events with a ratio of 0.25", kept, events)
			}
		})
	}
}

const sampledAnnotation = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// A provider other than Setup's decides in Start.
func TestForeignProvider(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	never := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithSampler(sdktrace.NeverSample()))
	if NewTracer(never, TracerOptions{}).Start(t.Context(), deliver) != nil {
		t.Error("a span of an operation that is not sampled")
	}
	always := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	NewTracer(always, TracerOptions{}).Start(t.Context(), deliver).End(spans.Result{})
	if n := len(exporter.GetSpans()); n != 1 {
		t.Errorf("%d spans were exported, want 1", n)
	}
}

func BenchmarkDeliverNotSampled(b *testing.B) {
	b.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
	b.Setenv("OTEL_TRACES_SAMPLER_ARG", "0.000001")
	provider := newProvider(resource.Empty(), Config{}, sdktrace.NewSimpleSpanProcessor(tracetest.NewNoopExporter()), &exportCounts{})
	tracer := NewTracer(provider, TracerOptions{})
	b.ReportAllocs()
	for b.Loop() {
		if s := tracer.Start(context.Background(), deliver); s != nil {
			s.End(spans.Result{})
		}
	}
}

// Every text in a span is valid UTF-8 and bounded: otherwise the receiver rejects the whole batch.
func TestTexts(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	bad := "\xff" + strings.Repeat("é", 5000)
	for kind := spans.List; kind <= spans.Rollback; kind++ {
		provider, exporter := inMemory(t)
		ctx, _ := provider.Tracer("test").Start(t.Context(), "parent")
		s := NewTracer(provider, TracerOptions{ObjectNames: true}).Start(ctx, spans.Operation{
			Kind: kind, Name: bad, WatchNamespace: bad, Handler: bad, Event: bad, Finalizer: bad, Verb: bad, Subresource: bad, Method: bad,
		})
		s.SetObject(bad, bad)
		s.AddEvent(bad, time.Time{})
		s.End(spans.Result{Result: bad, ErrorType: bad, Failed: true, Err: errors.New(bad)})
		span := exporter.GetSpans()[0]
		texts := []string{span.Name, span.Status.Description, span.Events[0].Name}
		for _, a := range span.Attributes {
			texts = append(texts, fmt.Sprint(a.Value.AsInterface()))
		}
		for _, text := range texts {
			if !utf8.ValidString(text) || len(text) > 1024 {
				t.Errorf("kind %v: %d bytes, %.20q", kind, len(text), text)
			}
		}
	}
}
