package tracing

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

func spanContext(sampled, remote bool) trace.SpanContext {
	config := trace.SpanContextConfig{TraceID: randomTraceID(), SpanID: randomSpanID(), Remote: remote}
	if sampled {
		config.TraceFlags = trace.FlagsSampled
	}
	return trace.NewSpanContext(config)
}

// The decision is that of the SDK, so that programs with the same ratio sample the same traces.
func TestRatio(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
	for _, ratio := range []string{"0", "0.01", "0.3", "1"} {
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", ratio)
		ours := newSampler(Config{})
		sdk := sdktrace.TraceIDRatioBased(ratioByEnv())
		drawn := false
		for range 5000 {
			id := randomTraceID()
			if sampled := sdk.ShouldSample(sdktrace.SamplingParameters{ParentContext: t.Context(), TraceID: id}).Decision == sdktrace.RecordAndSample; ours.keep(id) != sampled {
				t.Fatalf("ratio %s: %s is sampled: %t, by the SDK: %t", ratio, id, !sampled, sampled)
			}
			if ours.draw() {
				drawn = true
				if id := ours.sampledTraceID(); !ours.keep(id) {
					t.Fatalf("ratio %s: %s is not sampled", ratio, id)
				}
			}
		}
		if drawn == (ratio == "0") {
			t.Errorf("ratio %s: drawn %t", ratio, drawn)
		}
	}
}

func TestSampler(t *testing.T) {
	sampled, not, remote := spanContext(true, false), spanContext(false, false), spanContext(true, true)
	requeued := trace.Link{SpanContext: sampled}
	listed := trace.Link{SpanContext: sampled, Attributes: []attribute.KeyValue{LinkRelationKey.String(relationListed)}}
	requeued.Attributes = append(requeued.Attributes, LinkRelationKey.String(relationRequeued))
	for _, tc := range []struct {
		name    string
		sampler string
		config  Config
		parent  trace.SpanContext
		links   []trace.Link
		want    bool
	}{
		{name: "a root follows the ratio, 0", sampler: "parentbased_always_off"},
		{name: "a root follows the ratio, 1", sampler: "parentbased_always_on", want: true},
		{name: "sampled parent", sampler: "parentbased_always_off", parent: sampled, want: true},
		{name: "parent that is not sampled", sampler: "parentbased_always_on", parent: not},
		{name: "one sampled link of two", sampler: "parentbased_always_off", links: []trace.Link{{SpanContext: not}, {SpanContext: sampled}}, want: true},
		{name: "links that are not sampled leave it to the ratio", sampler: "parentbased_always_on", links: []trace.Link{{SpanContext: not}}, want: true},
		{name: "requeued", sampler: "parentbased_always_off", links: []trace.Link{requeued}},
		{name: "list", sampler: "parentbased_always_off", links: []trace.Link{listed}},
		{name: "parent before links", sampler: "parentbased_always_off", parent: not, links: []trace.Link{{SpanContext: sampled}}},
		{name: "annotation", sampler: "parentbased_always_off", links: []trace.Link{{SpanContext: remote}}, want: true},
		{name: "annotation, ignored", sampler: "parentbased_always_off", config: Config{IgnoreRemoteSampling: true}, links: []trace.Link{{SpanContext: remote}}},
		{name: "not parent-based: links have no effect", sampler: "always_off", links: []trace.Link{{SpanContext: sampled}}},
		{name: "not parent-based: parent has no effect", sampler: "always_on", parent: not, want: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("OTEL_TRACES_SAMPLER", tc.sampler)
			exporter := tracetest.NewInMemoryExporter()
			provider := newProvider(resource.Empty(), tc.config, sdktrace.NewSimpleSpanProcessor(exporter), &exportCounts{})
			ctx := context.Background()
			if tc.parent.IsValid() {
				ctx = trace.ContextWithSpanContext(ctx, tc.parent)
			}
			_, span := provider.Tracer("test").Start(ctx, "reconcile pods", trace.WithLinks(tc.links...))
			if got := span.SpanContext().IsSampled(); got != tc.want {
				t.Errorf("sampled: %t, want %t", got, tc.want)
			}
			if got := span.IsRecording(); got != tc.want {
				t.Errorf("recorded: %t, want %t", got, tc.want)
			}
		})
	}
}
