package tracing

import (
	"bytes"
	"context"
	"encoding/hex"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// Log lines with the context of a sampled span have its trace ID; others are unchanged.
func TestLog(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	provider, _ := inMemory(t)
	s := NewTracer(provider, TracerOptions{}).Start(t.Context(), deliver)
	defer s.End(spans.Result{})
	var out bytes.Buffer
	h := slog.NewTextHandler(&out, nil)
	traced := slog.New(NewLogHandler(h)).With("a", "b")
	ctx := s.Context(t.Context())
	for _, tc := range []struct {
		name string
		log  func(context.Context)
	}{
		{"slog", func(ctx context.Context) { traced.InfoContext(ctx, "m") }},
		{"logr", func(ctx context.Context) { LogrWithTrace(ctx, logr.FromSlogHandler(h)).Info("m") }},
	} {
		out.Reset()
		tc.log(ctx)
		c := s.SpanContext()
		if want := "trace_id=" + hex.EncodeToString(c.TraceID[:]) + " span_id=" + hex.EncodeToString(c.SpanID[:]); !strings.Contains(out.String(), want) {
			t.Errorf("%s: no %s in %s", tc.name, want, &out)
		}
		out.Reset()
		if tc.log(t.Context()); strings.Contains(out.String(), "trace_id") || !strings.Contains(out.String(), "msg=m") {
			t.Errorf("%s: without a span: %s", tc.name, &out)
		}
	}
	for name, log := range map[string]func(){
		"record":       func() { traced.InfoContext(ctx, "m", "trace_id", "mine") },
		"logger":       func() { traced.With("trace_id", "mine").With("c", "d").InfoContext(ctx, "m") },
		"in a group":   func() { traced.WithGroup("").WithGroup("g").With("e", "f").InfoContext(ctx, "m", "i", "j") },
		"before group": func() { traced.With("trace_id", "mine").WithGroup("g").InfoContext(ctx, "m", "i", "j") },
	} {
		out.Reset()
		log()
		text := out.String()
		if strings.Count(text, "trace_id") != 1 || strings.Contains(text, "g.trace_id") || strings.Contains(name, "group") != strings.Contains(text, "g.i=j") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
