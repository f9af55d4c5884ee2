package informer_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

// brokenTracer panics in Start, or its spans panic.
type brokenTracer struct{ start, end, all bool }

func (b brokenTracer) Start(context.Context, spans.Operation) spans.Span {
	if b.start {
		panic("broken start")
	}
	return brokenSpan{b}
}

type brokenSpan struct{ brokenTracer }

func (b brokenSpan) End(spans.Result) { panic("broken end") }

func (b brokenSpan) SpanContext() spans.SpanContext {
	b.panic("broken span context")
	return spans.SpanContext{TraceID: [16]byte{1}, SpanID: [8]byte{1}, Sampled: true}
}

func (b brokenSpan) Context(ctx context.Context) context.Context {
	b.panic("broken context")
	return ctx
}

func (b brokenSpan) SetObject(string, string) { b.panic("broken object") }

func (b brokenSpan) AddEvent(string, time.Time) { b.panic("broken event") }

func (b brokenSpan) panic(value string) {
	if b.all {
		panic(value)
	}
}

// An event of an object with a trace context is not sampled early: Start gets the trace context.
func TestTraceparent(t *testing.T) {
	tracer := &spantest.Sampler{Choose: func(spans.Kind) bool { return false }}
	obs, _ := observertest.New(t, func(o *collectors.Options) { o.Tracer = tracer })
	lw := informer.NewListerWatcher(obs, pods, fakeapi.NewServer())
	h := lw.Decorate("h", cache.ResourceEventHandlerFuncs{})
	const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for version := 2; version <= 3; version++ {
		lw.Receive(uint64(version))
		pod := fakeapi.Pod("a", version)
		if version == 3 {
			pod.Annotations = map[string]string{"tracing.k8s.io/traceparent": traceparent}
		}
		h.OnAdd(pod, false)
	}
	if all := tracer.Ended(spans.Deliver); len(all) != 1 || all[0].Traceparent != traceparent || all[0].Object != "default/a" {
		t.Errorf("got %+v, want one span with the trace context", all)
	}
}

// A Tracer that panics neither loses an event nor ends the process, whether or not the handler panics as well.
func TestTracerThatPanics(t *testing.T) {
	for name, c := range map[string]struct {
		tracer   brokenTracer
		says     string
		handlers bool // the handler panics as well
	}{
		"at the begin":                        {tracer: brokenTracer{start: true}, says: "broken start"},
		"at the end":                          {tracer: brokenTracer{end: true}, says: "broken end"},
		"in all methods":                      {tracer: brokenTracer{all: true}, says: "broken object"},
		"at the end of a handler that panics": {tracer: brokenTracer{end: true}, says: "broken end", handlers: true},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			obs, reg := observertest.New(t, func(o *collectors.Options) {
				o.Tracer, o.Logger = c.tracer, slog.New(slog.NewTextHandler(&log, nil))
			})
			lw := informer.NewListerWatcher(obs, pods, fakeapi.NewServer())
			handled := 0
			h := lw.Decorate("h", cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
				handled++
				if c.handlers {
					panic("the handler's own")
				}
			}})
			want := metricstest.Snapshot{
				"k8s_informer_handler_panics_total{handler=h}": 0, "k8s_informer_handler_pending_events{handler=h}": 0,
				"k8s_informer_handler_duration_seconds_count{handler=h}": 2, "k8s_informer_event_lag_seconds_count": 2,
			}
			if c.handlers {
				want["k8s_informer_handler_panics_total{handler=h}"] = 2
				want["k8s_informer_handler_duration_seconds_count{handler=h}"] = 0
				want["k8s_informer_event_lag_seconds_count"] = 0
			}
			for version := 2; version <= 3; version++ {
				lw.Receive(uint64(version))
				func() {
					defer func() {
						if r := recover(); (r == "the handler's own") != c.handlers || !c.handlers && r != nil {
							t.Errorf("the caller of the handler sees the panic %v", r)
						}
					}()
					h.OnAdd(fakeapi.Pod("a", version), false)
				}()
			}
			if handled != 2 {
				t.Errorf("%d of 2 events were handled", handled)
			}
			check(t, metricstest.Take(t, reg), want)
			if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), c.says) || !strings.Contains(log.String(), "tracer_test.go") {
				t.Errorf("the log has %d lines, want 1 with %q and the stack:\n%s", n, c.says, &log)
			}
		})
	}
}
