package collectors

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
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

// errTerminal is an error that no retry mends, as the package itself recognizes it.
type errTerminal struct{ error }

func (errTerminal) Terminal() bool { return true }

func (e errTerminal) Unwrap() error { return e.error }

// ended returns the one result that a call of f is counted under, once as a reconcile and once with its duration.
func ended(t *testing.T, reg prometheus.Gatherer, f func()) string {
	t.Helper()
	before := metricstest.Take(t, reg)
	f()
	changed := metricstest.Take(t, reg).Since(before)
	for _, result := range catalog.LabelReconcileResult.Values {
		if changed["controller_reconcile_total{controller=c,result="+result+"}"] == 1 {
			changed.Equal(t, metricstest.Snapshot{
				"controller_reconcile_total{controller=c,result=" + result + "}":                  1,
				"controller_reconcile_duration_seconds_count{controller=c,result=" + result + "}": 1,
			})
			return result
		}
	}
	t.Errorf("counted is\n%s", changed)
	return ""
}

// TestReconcileResults covers S9: each way in which a reconcile ends is counted under its name, and what it returns is
// handed on.
func TestReconcileResults(t *testing.T) {
	theirs := errors.New("theirs")
	isTheirs := func(err error) bool { return errors.Is(err, theirs) }
	for _, c := range []struct {
		name   string
		result reconcileResult
		err    error
		want   string
	}{
		{"nothing", reconcileResult{}, nil, catalog.ReconcileSuccess},
		{"an error", reconcileResult{}, errTest, catalog.ReconcileError},
		{"at once", reconcileResult{Requeue: true}, nil, catalog.ReconcileRequeue},
		{"later", reconcileResult{RequeueAfter: 1}, nil, catalog.ReconcileRequeueAfter},
		{"both", reconcileResult{Requeue: true, RequeueAfter: 1}, nil, catalog.ReconcileRequeueAfter},
		{"earlier", reconcileResult{RequeueAfter: -1}, nil, catalog.ReconcileSuccess},
		{"an error, and later", reconcileResult{RequeueAfter: 1}, errTest, catalog.ReconcileError},
		{"terminal for us", reconcileResult{}, fmt.Errorf("wrapped: %w", errTerminal{errTest}), catalog.ReconcileTerminal},
		{"terminal for them", reconcileResult{Requeue: true}, fmt.Errorf("wrapped: %w", theirs), catalog.ReconcileTerminal},
	} {
		t.Run(c.name, func(t *testing.T) {
			obs, reg := newObserver(t)
			type key struct{}
			ctx := context.WithValue(t.Context(), key{}, "caller's")
			reconcile := Reconciler(obs, "c", func(ctx context.Context, r reconcileRequest) (reconcileResult, error) {
				if ctx.Value(key{}) != "caller's" || r != (reconcileRequest{"namespace", "name"}) {
					t.Errorf("called with %v and %v", ctx.Value(key{}), r)
				}
				return c.result, c.err
			}, ReconcilerOptions{IsTerminal: isTheirs})
			got := ended(t, reg, func() {
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

// TestReconcileResultsOfOtherTypes: what has no such fields, or fields of other types, is never to be requeued.
func TestReconcileResultsOfOtherTypes(t *testing.T) {
	type named bool
	for name, test := range map[string]func(*testing.T){
		"fields of other types": returns(struct {
			Requeue      named
			RequeueAfter int64
		}{true, 1}, catalog.ReconcileSuccess),
		"no struct":         returns(time.Second, catalog.ReconcileSuccess),
		"an interface":      returns[any](reconcileResult{Requeue: true}, catalog.ReconcileSuccess),
		"a pointer":         returns(&reconcileResult{Requeue: true}, catalog.ReconcileSuccess),
		"nothing":           returns(struct{}{}, catalog.ReconcileSuccess),
		"Requeue only":      returns(struct{ Requeue bool }{true}, catalog.ReconcileRequeue),
		"embedded":          returns(struct{ reconcileResult }{reconcileResult{RequeueAfter: 1}}, catalog.ReconcileRequeueAfter),
		"embedded, not set": returns(struct{ *reconcileResult }{}, catalog.ReconcileSuccess),
	} {
		t.Run(name, test)
	}
}

// returns tests how a result is counted.
func returns[R any](result R, want string) func(*testing.T) {
	return func(t *testing.T) {
		obs, reg := newObserver(t)
		reconcile := Reconciler(obs, "c", func(context.Context, string) (R, error) { return result, nil })
		if got := ended(t, reg, func() { _, _ = reconcile(t.Context(), "") }); got != want {
			t.Errorf("counted as %s, want %s", got, want)
		}
	}
}

func TestSyncHandler(t *testing.T) {
	obs, reg := newObserver(t)
	for err, want := range map[error]string{
		nil:                  catalog.ReconcileSuccess,
		errTest:              catalog.ReconcileError,
		errTerminal{errTest}: catalog.ReconcileTerminal,
	} {
		sync := SyncHandler(obs, "c", func(_ context.Context, key string) error {
			if key != "namespace/name" {
				t.Errorf("called with %q", key)
			}
			return err
		})
		got := ended(t, reg, func() {
			if returned := sync(t.Context(), "namespace/name"); !errors.Is(returned, err) {
				t.Errorf("returned %v, want %v", returned, err)
			}
		})
		if got != want {
			t.Errorf("%v is counted as %s, want %s", err, got, want)
		}
	}
}

// reconcileThatPanics is looked for by its name.
func reconcileThatPanics(context.Context, string) error { panic(errTest) }

// TestReconcilePanic covers S21: a panic is counted and reaches the caller with the stack of where it happened, and the
// worker is free again.
func TestReconcilePanic(t *testing.T) {
	obs, reg := newObserver(t)
	sync := SyncHandler(obs, "c", reconcileThatPanics)
	got := ended(t, reg, func() {
		defer func() {
			if value := recover(); value != any(errTest) {
				t.Errorf("recovered %v", value)
			}
			if stack := string(debug.Stack()); !strings.Contains(stack, "reconcileThatPanics") {
				t.Errorf("the stack has lost where it happened:\n%s", stack)
			}
		}()
		_ = sync(t.Context(), "key")
	})
	if got != catalog.ReconcilePanic {
		t.Errorf("counted as %s", got)
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"controller_active_workers{controller=c}": 0})
}

// TestWorkers covers S9: the workers that reconcile are seen while they do, and the duration is that of the reconcile.
func TestWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := newObserver(t)
		check := func(active, most float64) {
			t.Helper()
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{
				"controller_active_workers{controller=c}": active, "controller_max_workers{controller=c}": most,
			})
		}
		handle := func(context.Context, string) error { time.Sleep(3 * time.Second); return nil }
		first := SyncHandler(obs, "c", handle, ReconcilerOptions{MaxWorkers: 1}, ReconcilerOptions{MaxWorkers: 4})
		second := SyncHandler(obs, "c", handle, ReconcilerOptions{MaxWorkers: 3})
		check(0, 4)
		var workers sync.WaitGroup
		workers.Go(func() { _ = first(t.Context(), "a") })
		workers.Go(func() { _ = first(t.Context(), "b") })
		workers.Go(func() { _ = second(t.Context(), "c") })
		synctest.Wait()
		check(3, 4)
		workers.Wait()
		check(0, 4)
		if s := metricstest.Take(t, reg); s["controller_reconcile_duration_seconds_sum{controller=c,result=success}"] != 9 {
			t.Errorf("three reconciles of 3 s:\n%s", s)
		}
	})
}

// TestMaxWorkersUnknown: a number that nobody has given is not reported.
func TestMaxWorkersUnknown(t *testing.T) {
	obs, reg := newObserver(t)
	SyncHandler(obs, "c", reconcileThatPanics)
	s := metricstest.Take(t, reg)
	if most, ok := s["controller_max_workers{controller=c}"]; ok {
		t.Errorf("controller_max_workers is %v", most)
	}
	// All results are there from the begin.
	for _, result := range catalog.LabelReconcileResult.Values {
		check(t, s, metricstest.Snapshot{"controller_reconcile_total{controller=c,result=" + result + "}": 0})
	}
}
