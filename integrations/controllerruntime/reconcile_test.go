package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
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

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// compared is the name of the controller in TestReconciles.
const compared = "compared"

// TestReconciles runs a controller in a decorated manager and compares the metrics of the library with those of
// controller-runtime. Panics are recovered by controller-runtime (O4).
func TestReconciles(t *testing.T) {
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
	m := newManager(t, unreachable(), ctrl.Options{})
	c, err := controller.New(compared, m, controller.Options{
		MaxConcurrentReconciles: 2,
		Reconciler: reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			mu.Lock()
			again := tried[r.Name]
			tried[r.Name] = true
			mu.Unlock()
			if again {
				return reconcile.Result{}, nil
			}
			return outcomes[r.Name]()
		}),
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
	m.run()

	// All except the successful and the terminal one are retried, and succeed.
	want := map[string]float64{"success": 5, "error": 1, "requeue": 1, "requeue_after": 1, "terminal": 1, "panic": 1}
	ours := func() map[string]float64 { return byResult(t, m.registry, "controller_reconcile_total") }
	m.eventually("every result is counted", func() bool { return maps.Equal(ours(), want) })
	m.eventually("both workers are running", func() bool {
		return m.samples().Sum("controller_running_workers", "controller", compared) == 2
	})
	m.stop()
	if got := ours(); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	if active := byResult(t, m.registry, "controller_active_workers"); active[""] != 0 {
		t.Errorf("%v workers are active", active)
	}
	if n := m.samples().Sum("controller_max_workers", "controller", compared); n != 2 {
		t.Errorf("%v workers, want 2", n)
	}
	// An error, a panic and a requeue are retried with backoff.
	if n := m.samples().Sum("controller_backoff_seconds_count", "controller", compared); n != 3 {
		t.Errorf("%v retries, want 3", n)
	}
	theirs := byResult(t, metrics.Registry, "controller_runtime_reconcile_total")
	theirs["panic"] = byResult(t, metrics.Registry, "controller_runtime_reconcile_panics_total")[""]
	theirs["terminal"] = byResult(t, metrics.Registry, "controller_runtime_terminal_reconcile_errors_total")[""]
	theirs["error"] -= theirs["panic"] + theirs["terminal"] // included in the errors
	if !maps.Equal(theirs, want) {
		t.Errorf("controller-runtime counted %v, want %v", theirs, want)
	}
	if n := metricstest.Gather(t, metrics.Registry).Sum("workqueue_retries_total", "controller", compared); fmt.Sprint(n) != "4" {
		t.Errorf("controller-runtime counted %v retries, want 4", n) // including requeue_after
	}
}

// S43: the retries of a request that always fails are reported while it fails, beside others that succeed.
func TestRequestThatAlwaysFails(t *testing.T) {
	for _, priority := range []bool{true, false} {
		t.Run(fmt.Sprintf("priority queue %t", priority), func(t *testing.T) {
			var fixed atomic.Bool
			m := newManager(t, unreachable(), ctrl.Options{})
			c, err := controller.New("fails", m, controller.Options{
				UsePriorityQueue: &priority,
				RateLimiter:      workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](time.Millisecond, 5*time.Millisecond),
				Reconciler: reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
					if r.Name == "always" && !fixed.Load() {
						return reconcile.Result{}, errors.New("failed")
					}
					return reconcile.Result{}, nil
				}),
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Watch(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
				queue.Add(requestFor("always"))
				queue.Add(requestFor("never"))
				return nil
			})); err != nil {
				t.Fatal(err)
			}
			m.run()
			highest := func() float64 { return m.samples().Sum("controller_item_retries_max", "controller", "fails") }
			m.eventually("the request is retried more than 6 times", func() bool { return highest() > 6 })
			fixed.Store(true)
			m.eventually("the request succeeds", func() bool { return highest() == 0 })
		})
	}
}

// The workers of two controllers with one name add up, and so do their maxima.
func TestControllersWithOneName(t *testing.T) {
	m := newManager(t, unreachable(), ctrl.Options{})
	for range 2 {
		c, err := controller.New("one-name", m, controller.Options{
			MaxConcurrentReconciles: 2,
			Reconciler:              reconcile.Func(func(context.Context, reconcile.Request) (r reconcile.Result, err error) { return r, err }),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Watch(source.Func(func(context.Context, workqueue.TypedRateLimitingInterface[ctrl.Request]) error { return nil })); err != nil {
			t.Fatal(err)
		}
	}
	m.run()
	m.eventually("four workers are running", func() bool {
		return m.samples().Sum("controller_running_workers", "controller", "one-name") == 4
	})
	if n := m.samples().Sum("controller_max_workers", "controller", "one-name"); n != 4 {
		t.Errorf("at most %v workers, want 4", n)
	}
}

// byResult returns the series of the controller by the label result.
func byResult(t *testing.T, g prometheus.Gatherer, metric string) map[string]float64 {
	t.Helper()
	return metricstest.Gather(t, g).Select(metric, "controller", compared).By(metric, "result")
}
