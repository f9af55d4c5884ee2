package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// reconcileRequest and reconcileResult have the shape of controller-runtime's.
type (
	reconcileRequest struct{ Namespace, Name string }
	reconcileResult  struct {
		Requeue      bool
		RequeueAfter time.Duration
		Priority     *int
	}
)

// errTerminal has the method that makes an error terminal.
type errTerminal struct{ error }

func (errTerminal) Terminal() bool { return true }

func (e errTerminal) Unwrap() error { return e.error }

// errRetryable has the same method, which returns false.
type errRetryable struct{ error }

func (errRetryable) Terminal() bool { return false }

func (e errRetryable) Unwrap() error { return e.error }

// resultOf returns the result with which a call of f is counted. The call must be counted once, and its duration observed once.
func resultOf(t *testing.T, reg prometheus.Gatherer, f func()) string {
	t.Helper()
	before := metricstest.Take(t, reg)
	f()
	changed := metricstest.Take(t, reg).Since(before)
	for _, result := range catalog.ControllerReconcile.Values("result") {
		if changed["controller_reconcile_total{controller=c,result="+result+"}"] == 1 {
			changed.Equal(t, metricstest.Snapshot{
				"controller_reconcile_total{controller=c,result=" + result + "}":                  1,
				"controller_reconcile_duration_seconds_count{controller=c,result=" + result + "}": 1,
			})
			return result
		}
	}
	t.Errorf("counted:\n%s", changed)
	return ""
}

// TestReconcileResults covers S9: each reconcile is counted with its result, and returns what the function returns.
func TestReconcileResults(t *testing.T) {
	theirs := errors.New("theirs")
	isTheirs := func(err error) bool { return errors.Is(err, theirs) }
	for _, c := range []struct {
		name   string
		result reconcileResult
		err    error
		want   string
	}{
		{"nothing", reconcileResult{}, nil, "success"},
		{"an error", reconcileResult{}, errTest, "error"},
		{"at once", reconcileResult{Requeue: true}, nil, "requeue"},
		{"later", reconcileResult{RequeueAfter: 1}, nil, "requeue_after"},
		{"both", reconcileResult{Requeue: true, RequeueAfter: 1}, nil, "requeue_after"},
		{"earlier", reconcileResult{RequeueAfter: -1}, nil, "success"},
		{"an error, and later", reconcileResult{RequeueAfter: 1}, errTest, "error"},
		{"terminal by its method", reconcileResult{}, fmt.Errorf("wrapped: %w", errTerminal{errTest}), "terminal"},
		{"terminal and another", reconcileResult{}, errors.Join(errTest, errTerminal{errTest}), "terminal"},
		{"not terminal by its method", reconcileResult{}, fmt.Errorf("wrapped: %w", errRetryable{errTest}), "error"},
		{"not terminal by its first method", reconcileResult{}, errors.Join(errRetryable{errTest}, errTerminal{errTest}), "error"},
		{"terminal by Options.IsTerminal, with a method", reconcileResult{}, errRetryable{theirs}, "terminal"},
		{"terminal by Options.IsTerminal", reconcileResult{Requeue: true}, fmt.Errorf("wrapped: %w", theirs), "terminal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			obs, reg := observertest.New(t)
			type key struct{}
			ctx := context.WithValue(t.Context(), key{}, "caller's")
			reconcile := controllers.NewReconciler(obs, "c", func(ctx context.Context, r reconcileRequest) (reconcileResult, error) {
				if ctx.Value(key{}) != "caller's" || r != (reconcileRequest{"namespace", "name"}) {
					t.Errorf("called with %v and %v", ctx.Value(key{}), r)
				}
				return c.result, c.err
			}, controllers.Options{IsTerminal: isTheirs})
			got := resultOf(t, reg, func() {
				if result, err := reconcile(ctx, reconcileRequest{"namespace", "name"}); result != c.result || !errors.Is(err, c.err) {
					t.Errorf("returned %v, %v", result, err)
				}
			})
			if got != c.want {
				t.Errorf("counted as %s, want %s", got, c.want)
			}
		})
	}
}

// TestReconcileResultsOfOtherTypes: a result without such fields, or with fields of other types, is a success.
func TestReconcileResultsOfOtherTypes(t *testing.T) {
	type named bool
	for name, test := range map[string]func(*testing.T){
		"fields of other types": returns(struct {
			Requeue      named
			RequeueAfter int64
		}{true, 1}, "success"),
		"no struct":         returns(time.Second, "success"),
		"an interface":      returns[any](reconcileResult{Requeue: true}, "success"),
		"a pointer":         returns(&reconcileResult{Requeue: true}, "success"),
		"nothing":           returns(struct{}{}, "success"),
		"Requeue only":      returns(struct{ Requeue bool }{true}, "requeue"),
		"embedded":          returns(struct{ reconcileResult }{reconcileResult{RequeueAfter: 1}}, "requeue_after"),
		"embedded, not set": returns(struct{ *reconcileResult }{}, "success"),
	} {
		t.Run(name, test)
	}
}

// returns tests that a reconcile that returns result is counted as want.
func returns[R any](result R, want string) func(*testing.T) {
	return func(t *testing.T) {
		obs, reg := observertest.New(t)
		reconcile := controllers.NewReconciler(obs, "c", func(context.Context, string) (R, error) { return result, nil }, controllers.Options{})
		if got := resultOf(t, reg, func() { _, _ = reconcile(t.Context(), "") }); got != want {
			t.Errorf("counted as %s, want %s", got, want)
		}
	}
}

func TestSyncHandler(t *testing.T) {
	obs, reg := observertest.New(t)
	for err, want := range map[error]string{
		nil:                  "success",
		errTest:              "error",
		errTerminal{errTest}: "terminal",
	} {
		sync := controllers.NewSyncHandler(obs, "c", func(_ context.Context, key string) error {
			if key != "namespace/name" {
				t.Errorf("called with %q", key)
			}
			return err
		}, controllers.Options{})
		got := resultOf(t, reg, func() {
			if returned := sync(t.Context(), "namespace/name"); !errors.Is(returned, err) {
				t.Errorf("returned %v, want %v", returned, err)
			}
		})
		if got != want {
			t.Errorf("%v is counted as %s, want %s", err, got, want)
		}
	}
}

func reconcileThatPanics(context.Context, string) error { panic(errTest) }

// TestReconcilePanic covers S21: a panic is counted and reaches the caller with its stack, and the worker is idle again.
func TestReconcilePanic(t *testing.T) {
	obs, reg := observertest.New(t)
	sync := controllers.NewSyncHandler(obs, "c", reconcileThatPanics, controllers.Options{})
	got := resultOf(t, reg, func() {
		defer func() {
			if value := recover(); value != any(errTest) {
				t.Errorf("recovered %v", value)
			}
			if stack := string(debug.Stack()); !strings.Contains(stack, "reconcileThatPanics") {
				t.Errorf("the stack does not show the panic:\n%s", stack)
			}
		}()
		_ = sync(t.Context(), "key")
	})
	if got != "panic" {
		t.Errorf("counted as %s", got)
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"controller_active_workers{controller=c}": 0})
}

// TestWorkers covers S9: active workers are reported during their reconciles, which have the right duration.
func TestWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		check := func(active, most float64) {
			t.Helper()
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{
				"controller_active_workers{controller=c}": active, "controller_max_workers{controller=c}": most,
			})
		}
		handle := func(context.Context, string) error { time.Sleep(3 * time.Second); return nil }
		first := controllers.NewSyncHandler(obs, "c", handle, controllers.Options{MaxWorkers: 4})
		check(0, 4)
		second := controllers.NewSyncHandler(obs, "c", handle, controllers.Options{MaxWorkers: 3})
		check(0, 7) // two controllers with one name
		var workers sync.WaitGroup
		workers.Go(func() { _ = first(t.Context(), "a") })
		workers.Go(func() { _ = first(t.Context(), "b") })
		workers.Go(func() { _ = second(t.Context(), "c") })
		synctest.Wait()
		check(3, 7)
		workers.Wait()
		check(0, 7)
		if s := metricstest.Take(t, reg); s["controller_reconcile_duration_seconds_sum{controller=c,result=success}"] != 9 {
			t.Errorf("three reconciles of 3 s:\n%s", s)
		}
		runtime.KeepAlive(first)
		runtime.KeepAlive(second)
	})
}

// The MaxWorkers of a decorator count until it is unreachable, except for the last one: its workers may have exited.
func TestMaxWorkersOfUnreachableDecorators(t *testing.T) {
	obs, reg := observertest.New(t)
	handle := func(context.Context, string) error { return nil }
	expect := func(when string, want float64) {
		t.Helper()
		metricstest.Eventually(t, reg, when, func(s metricstest.Snapshot) bool {
			runtime.GC()
			return s["controller_max_workers{controller=c}"] == want
		})
	}
	first := controllers.NewSyncHandler(obs, "c", handle, controllers.Options{MaxWorkers: 4})
	second := controllers.NewSyncHandler(obs, "c", handle, controllers.Options{MaxWorkers: 3})
	expect("both", 7)
	runtime.KeepAlive(first)
	expect("the second", 3)
	runtime.KeepAlive(second)
	expect("none", 3)
	// A successor, as after a restart of the controller. The cleanup of the predecessor may still run.
	third := controllers.NewSyncHandler(obs, "c", handle, controllers.Options{MaxWorkers: 2})
	expect("the successor", 2)
	runtime.KeepAlive(third)
}

// TestMaxWorkersUnknown: without Options.MaxWorkers there is no such series.
func TestMaxWorkersUnknown(t *testing.T) {
	obs, reg := observertest.New(t)
	controllers.NewSyncHandler(obs, "c", reconcileThatPanics, controllers.Options{})
	s := metricstest.Take(t, reg)
	if most, ok := s["controller_max_workers{controller=c}"]; ok {
		t.Errorf("controller_max_workers is %v", most)
	}
	// All results exist from the start.
	for _, result := range catalog.ControllerReconcile.Values("result") {
		check(t, s, metricstest.Snapshot{"controller_reconcile_total{controller=c,result=" + result + "}": 0})
	}
}
