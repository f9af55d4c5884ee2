package tracing

import (
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

func TestAnnotations(t *testing.T) {
	sc := spanContext(true, false)
	ctx := trace.ContextWithSpanContext(t.Context(), sc)
	annotations := Annotate(ctx, map[string]string{"other": "1"})
	if len(annotations) != 2 || annotations["other"] != "1" {
		t.Errorf("annotations are %v", annotations)
	}
	if got := FromAnnotations(annotations); !got.Equal(sc.WithRemote(true)) {
		t.Errorf("read %+v, want %+v", got, sc)
	}
	if got := Annotate(ctx, nil); got[TraceparentAnnotation] == "" {
		t.Errorf("annotations are %v", got)
	}
	if got := Annotate(trace.ContextWithSpanContext(t.Context(), spanContext(false, false)), nil); got != nil {
		t.Errorf("a span that is not sampled leaves %v", got)
	}
}

func TestFromAnnotations(t *testing.T) {
	const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for value, want := range map[string]bool{
		valid: true, "": false, "00-zz-zz-01": false, "00-00000000000000000000000000000000-00f067aa0ba902b7-01": false,
		valid + strings.Repeat("0", 1<<20): false, "cc" + valid[2:] + "-" + strings.Repeat("x", 200): false,
	} {
		got := FromAnnotations(map[string]string{TraceparentAnnotation: value})
		if got.IsValid() != want || got.IsRemote() != want || got.IsSampled() != want {
			t.Errorf("%.60q gives %+v, want valid: %t", value, got, want)
		}
	}
	annotations := map[string]string{"other": "1"}
	if n := testing.AllocsPerRun(100, func() { FromAnnotations(annotations) }); n != 0 {
		t.Errorf("%v allocations without the annotation", n)
	}
}

// An event on an annotated object is linked to the write, and sampled with it unless remote decisions are ignored.
func TestDeliverAnnotated(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
	const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, tc := range []struct {
		name, value string
		config      Config
		want        bool
	}{
		{"sampled", valid, Config{}, true},
		{"not sampled", valid[:len(valid)-1] + "0", Config{}, false},
		{"ignored", valid, Config{IgnoreRemoteSampling: true}, false},
		{"invalid", "00-zz", Config{}, false},
	} {
		exporter := tracetest.NewInMemoryExporter()
		provider := newProvider(resource.Empty(), tc.config, sdktrace.NewSimpleSpanProcessor(exporter), &exportCounts{})
		s := NewTracer(provider, TracerOptions{}).Start(t.Context(), spans.Operation{Kind: spans.Deliver, Name: "pods", Traceparent: tc.value})
		if (s != nil) != tc.want {
			t.Errorf("%s: recorded %t, want %t", tc.name, s != nil, tc.want)
		}
		if s == nil {
			continue
		}
		s.End(spans.Result{})
		links := exporter.GetSpans()[0].Links
		if len(links) != 1 || links[0].SpanContext.TraceID().String() != valid[3:35] {
			t.Errorf("%s: links are %+v, want one to %s", tc.name, links, valid)
		}
	}
}
