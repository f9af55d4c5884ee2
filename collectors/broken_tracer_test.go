//go:build !clientgo_before_0_36

package collectors_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// A Tracer that panics does not affect any decorator, and is logged once.
func TestBrokenTracer(t *testing.T) {
	for name, broken := range map[string]brokenTracer{"start": {}, "spans": {spans: true}} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			obs, registry := observertest.New(t, func(o *collectors.Options) {
				o.Tracer, o.Logger = broken, slog.New(slog.NewTextHandler(&log, nil))
			})
			end := decorateAll(t, obs, "a")
			samples := metricstest.Gather(t, registry)
			for _, metric := range []string{
				"controller_reconcile_total", "controller_finalizer_attempts_total", "controller_finalizer_rollback_duration_seconds_count",
				"k8s_client_requests_total", "workqueue_queue_duration_seconds_count",
			} {
				if n := samples.Sum(metric); n == 0 {
					t.Errorf("%s is %v", metric, n)
				}
			}
			end()
			if n := strings.Count(log.String(), "tracer panicked"); n != 1 {
				t.Errorf("%d log lines:\n%s", n, &log)
			}
		})
	}
}

// brokenTracer is a Tracer that panics. With spans set, Start returns a span with methods that all panic.
type brokenTracer struct{ spans bool }

// Start implements spans.Tracer.
func (b brokenTracer) Start(context.Context, spans.Operation) spans.Span {
	if b.spans {
		return brokenSpan{}
	}
	panic("broken start")
}

// ExportedSpans implements spans.Counter.
func (brokenTracer) ExportedSpans() uint64 { panic("broken count") }

// DroppedSpans implements spans.Counter.
func (brokenTracer) DroppedSpans() map[string]uint64 { panic("broken count") }

type brokenSpan struct{}

func (brokenSpan) SpanContext() spans.SpanContext          { panic("broken span context") }
func (brokenSpan) Context(context.Context) context.Context { panic("broken context") }
func (brokenSpan) SetObject(string, string)                { panic("broken object") }
func (brokenSpan) AddEvent(string, time.Time)              { panic("broken event") }
func (brokenSpan) End(spans.Result)                        { panic("broken end") }
