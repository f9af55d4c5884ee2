package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// compared is the name of the controller in TestReconciler.
const compared = "compared"

// TestReconciler runs a decorated reconciler with controller-runtime, which recovers its panics and counts the same results.
func TestReconciler(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	obs, err := collectors.New(registry, collectors.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]func() (reconcile.Result, error){
		"success":       func() (reconcile.Result, error) { return reconcile.Result{}, nil },
		"error":         func() (reconcile.Result, error) { return reconcile.Result{RequeueAfter: 1}, errors.New("failed") },
		"requeue":       func() (reconcile.Result, error) { return reconcile.Result{Requeue: true}, nil }, //nolint:staticcheck // deprecated, but counted
		"requeue_after": func() (reconcile.Result, error) { return reconcile.Result{RequeueAfter: time.Millisecond}, nil },
		"terminal": func() (reconcile.Result, error) {
			return reconcile.Result{}, reconcile.TerminalError(errors.New("failed"))
		},
		"panic": func() (reconcile.Result, error) { panic("of the test") },
	}
	var (
		mu    sync.Mutex
		tried = map[string]bool{}
	)
	reconciler := reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
		mu.Lock()
		again := tried[r.Name]
		tried[r.Name] = true
		mu.Unlock()
		if again {
			return reconcile.Result{}, nil
		}
		return outcomes[r.Name]()
	})
	c, err := controller.NewUnmanaged(compared, controller.Options{
		Reconciler: reconcile.Func(controllers.NewReconciler(obs, compared, reconciler.Reconcile, controllers.Options{
			IsTerminal: func(err error) bool { return errors.Is(err, reconcile.TerminalError(nil)) },
			MaxWorkers: 2,
		})),
		MaxConcurrentReconciles: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Watch(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		for outcome := range outcomes {
			queue.Add(ctrl.Request{NamespacedName: types.NamespacedName{Name: outcome}})
		}
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()

	// All except the successful and the terminal one are retried, and succeed.
	want := map[string]float64{"success": 5, "error": 1, "requeue": 1, "requeue_after": 1, "terminal": 1, "panic": 1}
	ours := func() map[string]float64 { return byResult(t, registry, "controller_reconcile_total") }
	await.True(t, "every result is counted", func() bool { return maps.Equal(ours(), want) }, func() string { return fmt.Sprint(ours()) })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := ours(); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	if active := byResult(t, registry, "controller_active_workers"); active[""] != 0 {
		t.Errorf("%v workers are active", active)
	}
	theirs := byResult(t, metrics.Registry, "controller_runtime_reconcile_total")
	theirs["panic"] = byResult(t, metrics.Registry, "controller_runtime_reconcile_panics_total")[""]
	theirs["terminal"] = byResult(t, metrics.Registry, "controller_runtime_terminal_reconcile_errors_total")[""]
	theirs["error"] -= theirs["panic"] + theirs["terminal"] // included in the errors
	if !maps.Equal(theirs, want) {
		t.Errorf("controller-runtime counted %v, want %v", theirs, want)
	}
}

// byResult returns the series of the controller by the label result.
func byResult(t *testing.T, g prometheus.Gatherer, metric string) map[string]float64 {
	t.Helper()
	return metricstest.Gather(t, g).Select(metric, "controller", compared).By(metric, "result")
}
