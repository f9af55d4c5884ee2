package controllerruntime_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// request is a request type other than reconcile.Request.
type request struct{ cluster, name string }

// limiterOf returns the rate limiter of a controller.
func limiterOf[R comparable](t *testing.T, c any) workqueue.TypedRateLimiter[R] {
	t.Helper()
	f, ok := controllerruntime.FieldsOf[R](c.(manager.Runnable))
	if !ok {
		t.Fatalf("%T does not have the expected fields", c)
	}
	return f.Limiter
}

func newController[R comparable](t *testing.T, mgr ctrl.Manager, options controller.TypedOptions[R]) controller.TypedController[R] {
	t.Helper()
	if options.Reconciler == nil {
		options.Reconciler = reconcile.TypedFunc[R](func(context.Context, R) (reconcile.Result, error) { return reconcile.Result{}, nil })
	}
	c, err := controller.NewTyped("test", mgr, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFields pins the internals of this version of controller-runtime: the fields of a controller have the names and types
// that fields.go expects, and the values of the options.
func TestFields(t *testing.T) {
	reconciler := &counting{}
	limiter := workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]()
	queue := func(string, workqueue.TypedRateLimiter[ctrl.Request]) workqueue.TypedRateLimitingInterface[ctrl.Request] {
		return nil
	}
	c, err := controller.NewUnmanaged("pinned", controller.Options{
		Reconciler: reconciler, RateLimiter: limiter, NewQueue: queue, MaxConcurrentReconciles: 7, SkipNameValidation: new(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	f, ok := controllerruntime.FieldsOf[ctrl.Request](c)
	if !ok || f.Name != "pinned" || f.Workers != 7 || f.Reconciler != reconciler || f.Limiter != limiter || f.NewQueue == nil {
		t.Errorf("the fields of a controller are %+v, %v", f, ok)
	}
	if _, ok := controllerruntime.FieldsOf[request](c); ok {
		t.Error("the fields of a controller are found for another type of requests")
	}
	for _, other := range []manager.Runnable{nil, manager.RunnableFunc(nil), (*counting)(nil), embedding{c}} {
		if _, ok := controllerruntime.FieldsOf[ctrl.Request](other); ok {
			t.Errorf("%T has the fields of a controller", other)
		}
	}
}

// counting is a reconciler that is also a runnable.
type counting struct{}

func (*counting) Reconcile(context.Context, ctrl.Request) (ctrl.Result, error) {
	return ctrl.Result{}, nil
}
func (*counting) Start(context.Context) error { return nil }

// embedding is how certificate rotators add a controller that replicas run without being elected.
type embedding struct{ controller.Controller }

func (embedding) NeedLeaderElection() bool { return false }

// TestTypedRequests: controllers of other requests are decorated if Options.Requests names their type.
func TestTypedRequests(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	mgr, err := controllerruntime.NewManager(unreachable(), quiet(ctrl.Options{}), controllerruntime.Options{
		Name: "test", Registerer: registry, Requests: []controllerruntime.RequestType{controllerruntime.RequestOf[request]()},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := newController(t, mgr, controller.TypedOptions[request]{})
	if _, err := c.Reconcile(t.Context(), request{"west", "a"}); err != nil {
		t.Fatal(err)
	}
	limiterOf[request](t, c).When(request{"west", "a"})
	got := metricstest.Gather(t, registry)
	if n := got.Sum("controller_reconcile_total", "controller", "test", "result", "success"); n != 1 {
		t.Errorf("%v reconciles, want 1", n)
	}
	if n := got.Sum("controller_backoff_seconds_count", "controller", "test"); n != 1 {
		t.Errorf("%v retries, want 1", n)
	}
}

// TestRetryTiming: the rate limiter that a controller would have had determines its retries. With the priority queue, which is
// the default, there is no overall rate limit: each of 500 failing items is retried as early as the first.
func TestRetryTiming(t *testing.T) {
	const items, attempts = 500, 3
	no := false
	for name, c := range map[string]struct {
		manager    ctrl.Options
		controller controller.Options
		unlimited  bool
	}{
		"default":           {unlimited: true},
		"no priority queue": {manager: ctrl.Options{Controller: config.Controller{UsePriorityQueue: &no}}},
		"own limiter": {unlimited: true, controller: controller.Options{
			RateLimiter: workqueue.NewTypedItemFastSlowRateLimiter[ctrl.Request](time.Second, time.Minute, 2),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var delays [2][]time.Duration
			for i, decorated := range []bool{false, true} {
				mgr, err := ctrl.NewManager(unreachable(), quiet(c.manager))
				if decorated {
					mgr, err = controllerruntime.NewManager(unreachable(), quiet(c.manager),
						controllerruntime.Options{Name: "test", Registerer: prometheus.NewRegistry()})
				}
				if err != nil {
					t.Fatal(err)
				}
				limiter := limiterOf[ctrl.Request](t, newController(t, mgr, c.controller))
				synctest.Test(t, func(*testing.T) { // where time stands still: an overall rate limit depends on it
					for n := range items {
						r := requestFor(string(rune(n)))
						limiter.Forget(r)
						for range attempts {
							delays[i] = append(delays[i], limiter.When(r))
						}
					}
				})
			}
			for n := range delays[0] {
				if delays[0][n] != delays[1][n] {
					t.Fatalf("retry %d is after %v, without the decorator after %v", n, delays[1][n], delays[0][n])
				}
			}
			if limited := delays[1][len(delays[1])-1] != delays[1][attempts-1]; limited == c.unlimited {
				t.Errorf("the last item is retried after %v, the first after %v", delays[1][len(delays[1])-1], delays[1][attempts-1])
			}
		})
	}
}
