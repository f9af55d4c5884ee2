package collectors_test

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

// counting is a Tracer that counts its spans.
type counting struct {
	spantest.Tracer

	dropped map[string]uint64
}

func (*counting) ExportedSpans() uint64             { return 7 }
func (c *counting) DroppedSpans() map[string]uint64 { return c.dropped }

func TestSpansAreCounted(t *testing.T) {
	names := []string{"controller_trace_spans_exported_total", "controller_trace_spans_dropped_total"}
	registry := func(tracer collectors.Tracer) *prometheus.Registry {
		r := prometheus.NewRegistry()
		if _, err := collectors.New(r, collectors.Options{Name: "traced", Tracer: tracer, Logger: slog.New(slog.DiscardHandler)}); err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := `
# HELP controller_trace_spans_dropped_total Number of dropped trace spans of the process, by reason.
# TYPE controller_trace_spans_dropped_total counter
controller_trace_spans_dropped_total{name="traced",reason="export_error"} 0
controller_trace_spans_dropped_total{name="traced",reason="queue_full"} 3
controller_trace_spans_dropped_total{name="traced",reason="shutdown"} 0
controller_trace_spans_dropped_total{name="traced",reason="tail_buffer_full"} 0
# HELP controller_trace_spans_exported_total Number of trace spans of the process that the receiver has accepted.
# TYPE controller_trace_spans_exported_total counter
controller_trace_spans_exported_total{name="traced"} 7
`
	traced := registry(&counting{dropped: map[string]uint64{"queue_full": 3, "of a future version": 1}})
	if err := testutil.GatherAndCompare(traced, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	for what, tracer := range map[string]collectors.Tracer{"no tracer": nil, "a tracer that does not count": &spantest.Tracer{}, "a tracer that is off": &counting{}} {
		if n, err := testutil.GatherAndCount(registry(tracer), names...); n != 0 || err != nil {
			t.Errorf("%s: %d series, %v", what, n, err)
		}
	}
}

// An event and its reconcile share one sampling decision (S18): although the Tracer would sample each reconcile without a known
// cause, only the reconciles of sampled events have spans.
func TestReconcilesFollowEvents(t *testing.T) {
	const events = 300
	var deliveries atomic.Int64
	tracer := &spantest.Sampler{Choose: func(k spans.Kind) bool {
		return k == spans.Reconcile || k == spans.Deliver && deliveries.Add(1)%10 == 0
	}}
	processEvents(t, tracer, events, func() {})
	total := events + benchPods
	delivered, reconciled, waits := tracer.Ended(spans.Deliver), tracer.Ended(spans.Reconcile), tracer.Ended(spans.Wait)
	if len(delivered) != total/10 || len(reconciled) != len(delivered) || len(waits) != len(delivered) {
		t.Fatalf("%d events have %d spans of deliveries, %d of reconciles and %d of waits", total, len(delivered), len(reconciled), len(waits))
	}
	for i, s := range reconciled {
		if len(s.Links) != 1 || s.Links[0].SpanContext != delivered[i].Context {
			t.Errorf("reconcile %d has the links %v, want %v", i, s.Links, delivered[i].Context)
		}
	}
}
