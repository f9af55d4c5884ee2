package tracing

import (
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// inMemory returns a provider configured by the environment, and the exporter that receives its spans.
func inMemory(t *testing.T) (*Provider, *tracetest.InMemoryExporter) {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := newProvider(resource.Empty(), sdktrace.WithSyncer(exporter))
	t.Cleanup(func() { _ = provider.Shutdown(t.Context()) })
	return provider, exporter
}

func TestDeliver(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	received := time.Now().Add(-3 * time.Second)

	for _, tc := range []struct {
		name       string
		namespace  string
		panicked   bool
		status     sdktrace.Status
		attributes []attribute.KeyValue
	}{
		{
			name:      "all namespaces",
			namespace: "*",
			attributes: []attribute.KeyValue{
				attribute.String("informer.type", "deployments.apps"),
				attribute.String("informer.handler", "exporter"),
				attribute.String("informer.event", "modified"),
			},
		},
		{
			name:      "one namespace, panic",
			namespace: "shop",
			panicked:  true,
			status:    sdktrace.Status{Code: codes.Error, Description: "the handler panicked"},
			attributes: []attribute.KeyValue{
				attribute.String("informer.type", "deployments.apps"),
				attribute.String("informer.handler", "exporter"),
				attribute.String("informer.event", "modified"),
				attribute.String("k8s.namespace.name", "shop"),
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			provider, exporter := inMemory(t)
			called := time.Now()
			end, traceID := NewTracer(provider).Deliver("deployments.apps", tc.namespace, "exporter", "modified", received)
			if end == nil {
				t.Fatal("no end function for a sampled span")
			}
			if n := len(exporter.GetSpans()); n != 0 {
				t.Fatalf("%d spans were exported before the handler returned", n)
			}
			end(tc.panicked)

			spans := exporter.GetSpans()
			if len(spans) != 1 {
				t.Fatalf("got %d spans, want 1", len(spans))
			}
			span := spans[0]
			if want := "informer.deliver deployments.apps"; span.Name != want {
				t.Errorf("name is %q, want %q", span.Name, want)
			}
			if span.SpanKind != trace.SpanKindConsumer {
				t.Errorf("kind is %v, want consumer", span.SpanKind)
			}
			if span.Parent.IsValid() {
				t.Errorf("parent is %v, want none", span.Parent)
			}
			if !span.StartTime.Equal(received) {
				t.Errorf("started at %v, want the time of receipt %v", span.StartTime, received)
			}
			if len(span.Events) != 1 || span.Events[0].Name != handlerStarted || span.Events[0].Time.Before(called) {
				t.Errorf("events are %v, want one %s not before %v", span.Events, handlerStarted, called)
			}
			if span.Status != tc.status {
				t.Errorf("status is %+v, want %+v", span.Status, tc.status)
			}
			if !slices.Equal(span.Attributes, tc.attributes) {
				t.Errorf("attributes are %v, want %v", span.Attributes, tc.attributes)
			}
			if got := span.SpanContext.TraceID().String(); got != traceID {
				t.Errorf("exemplar leads to trace %q, the span's is %q", traceID, got)
			}
		})
	}
}

func TestDeliverWithoutTimeOfReceiptStartsNow(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	provider, exporter := inMemory(t)
	before := time.Now()
	end, _ := NewTracer(provider).Deliver("pods", "*", "exporter", "added", time.Time{})
	end(false)
	if start := exporter.GetSpans()[0].StartTime; start.Before(before) {
		t.Errorf("span without a time of receipt started at %v", start)
	}
}

// A span that is recorded but not sampled must be ended, and must not become an exemplar.
func TestDeliverRecordOnly(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithSampler(recordOnly{}))
	end, traceID := NewTracer(provider).Deliver("pods", "*", "exporter", "added", time.Now())
	if end == nil {
		t.Fatal("a recorded span must be ended")
	}
	end(false)
	if traceID != "" {
		t.Errorf("trace id %q of a span that is not sampled", traceID)
	}
}

type recordOnly struct{}

func (recordOnly) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}
func (recordOnly) Description() string { return "recordOnly" }

func TestDeliverNotSampledAllocatesNothing(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	sdk, exporter := inMemory(t)
	for name, provider := range map[string]trace.TracerProvider{
		"sampler says no": sdk,
		"not configured":  &Provider{TracerProvider: noop.NewTracerProvider()},
		"no-op provider":  noop.NewTracerProvider(),
	} {
		t.Run(name, func(t *testing.T) {
			tracer := NewTracer(provider)
			received := time.Now()
			allocs := testing.AllocsPerRun(1000, func() {
				if end, id := tracer.Deliver("pods", "*", "exporter", "added", received); end != nil || id != "" {
					t.Fatalf("got end %t and trace id %q for an event that is not sampled", end != nil, id)
				}
			})
			if allocs != 0 {
				t.Errorf("%v allocations for an event that is not sampled", allocs)
			}
		})
	}
	if n := len(exporter.GetSpans()); n != 0 {
		t.Errorf("%d spans were exported", n)
	}
}

// SampleRoot and the sampler inside Start must make one decision: sampling twice would keep one in ten thousand instead
// of one in a hundred.
func TestDeliverSamplesOnce(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
	t.Setenv("OTEL_TRACES_SAMPLER_ARG", "0.25")
	provider, exporter := inMemory(t)
	tracer := NewTracer(provider)
	const events = 8000
	kept := 0
	for range events {
		if end, _ := tracer.Deliver("pods", "*", "exporter", "added", time.Now()); end != nil {
			end(false)
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
}

// A provider other than Setup's decides in Start.
func TestDeliverWithForeignProvider(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	never := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithSampler(sdktrace.NeverSample()))
	if end, id := NewTracer(never).Deliver("pods", "*", "exporter", "added", time.Now()); end != nil || id != "" {
		t.Errorf("got end %t and trace id %q for an event that is not sampled", end != nil, id)
	}
	always := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	end, id := NewTracer(always).Deliver("pods", "*", "exporter", "added", time.Now())
	if end == nil || id == "" {
		t.Fatal("no span from a provider that keeps all")
	}
	end(false)
	if n := len(exporter.GetSpans()); n != 1 {
		t.Errorf("%d spans were exported, want 1", n)
	}
}

func BenchmarkDeliverNotSampled(b *testing.B) {
	b.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
	b.Setenv("OTEL_TRACES_SAMPLER_ARG", "0.000001")
	provider := newProvider(resource.Empty(), sdktrace.WithSyncer(tracetest.NewNoopExporter()))
	tracer := NewTracer(provider)
	received := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		if end, _ := tracer.Deliver("pods", "*", "exporter", "added", received); end != nil {
			end(false)
		}
	}
}
