//go:build !clientgo_before_0_36

package collectors_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

// A Tracer that panics does not affect any decorator, and is logged once.
func TestBrokenTracer(t *testing.T) {
	for name, broken := range map[string]spantest.Broken{"start": {}, "spans": {Spans: true}} {
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
