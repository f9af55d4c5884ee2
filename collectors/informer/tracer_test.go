package informer_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// brokenTracer panics in Deliver, in its end function, or in neither.
type brokenTracer struct{ deliver, end bool }

func (b brokenTracer) Deliver(string, string, string, string, time.Time) (func(bool), string) {
	if b.deliver {
		panic("broken deliver")
	}
	return func(bool) {
		if b.end {
			panic("broken end")
		}
	}, "4bf92f3577b34da6a3ce929d0e0e4736"
}

// A Tracer that panics neither loses an event nor ends the process, whether or not the handler panics as well.
func TestTracerThatPanics(t *testing.T) {
	for name, c := range map[string]struct {
		tracer   brokenTracer
		says     string
		handlers bool // the handler panics as well
	}{
		"at the begin":                        {tracer: brokenTracer{deliver: true}, says: "broken deliver"},
		"at the end":                          {tracer: brokenTracer{end: true}, says: "broken end"},
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
			if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), c.says) || !strings.Contains(log.String(), "brokenTracer.Deliver") {
				t.Errorf("the log has %d lines, want 1 with %q and the stack:\n%s", n, c.says, &log)
			}
		})
	}
}
