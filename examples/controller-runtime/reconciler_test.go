package main

import (
	"context"
	"errors"
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
)

// compared is the name of a controller.
const compared = "compared"

// TestReconciler lets controller-runtime call a decorated reconciler: its types fit, it recovers the panic, its workers
// are free afterwards, and it counts the same results.
func TestReconciler(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	obs, err := collectors.New(registry, collectors.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]func() (reconcile.Result, error){
		"success":       func() (reconcile.Result, error) { return reconcile.Result{}, nil },
		"error":         func() (reconcile.Result, error) { return reconcile.Result{RequeueAfter: 1}, errors.New("failed") },
		"requeue":       func() (reconcile.Result, error) { return reconcile.Result{Requeue: true}, nil }, //nolint:staticcheck // deprecated, and counted as long as it exists
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

	// All but the first and the terminal one are tried again, and succeed.
	want := map[string]float64{"success": 5, "error": 1, "requeue": 1, "requeue_after": 1, "terminal": 1, "panic": 1}
	ours := func() map[string]float64 { return byResult(t, registry, "controller_reconcile_total") }
	for end := time.Now().Add(time.Minute); !maps.Equal(ours(), want) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := ours(); !maps.Equal(got, want) {
		t.Errorf("counted are %v, want %v", got, want)
	}
	if active := byResult(t, registry, "controller_active_workers"); active[""] != 0 {
		t.Errorf("%v workers are active", active)
	}
	theirs := byResult(t, metrics.Registry, "controller_runtime_reconcile_total")
	theirs["panic"] = byResult(t, metrics.Registry, "controller_runtime_reconcile_panics_total")[""]
	theirs["terminal"] = byResult(t, metrics.Registry, "controller_runtime_terminal_reconcile_errors_total")[""]
	theirs["error"] -= theirs["panic"] + theirs["terminal"] // they count among the errors
	if !maps.Equal(theirs, want) {
		t.Errorf("controller-runtime has counted %v, want %v", theirs, want)
	}
}

// byResult returns the series of the controller by their label result.
func byResult(t *testing.T, g prometheus.Gatherer, metric string) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, s := range f.GetMetric() {
			if f.GetName() == metric && label(s, "controller") == compared {
				values[label(s, "result")] = s.GetCounter().GetValue() + s.GetGauge().GetValue()
			}
		}
	}
	return values
}
