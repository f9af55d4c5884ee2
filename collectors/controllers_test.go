package collectors

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// quiet keeps the log of shutdowns out of that of the tests.
func quiet(o *Options) { o.Logger = slog.New(slog.DiscardHandler) }

// use makes and calls one decorator of each kind.
func use(obs *Observer, controller, finalizer string) (again func()) {
	ctx := context.Background()
	sync := SyncHandler(obs, controller, func(context.Context, string) error { return nil }, ReconcilerOptions{MaxWorkers: 2})
	cleanup := Finalizer(obs, controller, finalizer, 1, func(context.Context, *corev1.Pod) error { return errTest })
	rollback := FinalizerRollback(obs, controller, finalizer, func(context.Context, *corev1.Pod) error { return nil })
	writes := NewWrites[string](obs, controller)
	again = func() {
		_, _, _ = sync(ctx, "key"), cleanup(ctx, pod("a", 1)), rollback(ctx, pod("a", 1))
		writes.Wrote("key", pod("a", 2))
		writes.Read("key", pod("a", 1))
	}
	again()
	_ = obs.ShutdownController(ctx, controller, ShutdownSteps{
		StopIntake: func(context.Context) error { return nil },
		Queue:      left(1),
	})
	return again
}

// left is a queue with a number of items.
type left int

func (l left) Remaining() int { return int(l) }

// TestForgetController covers S22: the series of a controller end when it is forgotten, and those of no other one. What
// its decorators still count goes nowhere, also once a successor has the name.
func TestForgetController(t *testing.T) {
	obs, reg := newObserver(t, quiet)
	use(obs, "stays", "example.com/a")
	before := metricstest.Take(t, reg)
	again := use(obs, "goes", "example.com/a")
	with := metricstest.Take(t, reg)
	families := map[string]bool{}
	for series := range with {
		if strings.Contains(series, "controller=goes") {
			name, _, _ := strings.Cut(series, "{")
			families[strings.TrimSuffix(strings.TrimSuffix(name, "_count"), "_sum")] = true
		}
	}
	for _, m := range []catalog.Definition{
		catalog.ControllerReconcile, catalog.ControllerReconcileDuration, catalog.ControllerActiveWorkers,
		catalog.ControllerMaxWorkers, catalog.ControllerStaleReads, catalog.ControllerShutdownDuration,
		catalog.ControllerFinalizerAttempts, catalog.ControllerFinalizerDuration,
		catalog.ControllerFinalizerRollbackDuration, catalog.ControllerFinalizerOverdue, catalog.ControllerDropped,
	} {
		if name := m.Define().Name; !families[name] {
			t.Errorf("%s is not reported:\n%s", name, with)
		}
	}

	obs.ForgetController("never seen")
	metricstest.Take(t, reg).Equal(t, with)
	obs.ForgetController("goes")
	metricstest.Take(t, reg).Equal(t, before)
	again()
	metricstest.Take(t, reg).Equal(t, before)

	use(obs, "goes", "example.com/a")
	successor := metricstest.Take(t, reg)
	again()
	metricstest.Take(t, reg).Equal(t, successor)
	if got := successor["controller_reconcile_total{controller=goes,result=success}"]; got != 1 {
		t.Errorf("the successor has made %v reconciles", got)
	}
	obs.ForgetController("goes")
	obs.ForgetController("stays")
	metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
}

// TestControllersShare: decorators with the same labels are reported as one.
func TestControllersShare(t *testing.T) {
	obs, reg := newObserver(t, quiet)
	for range 2 {
		use(obs, "twice", "example.com/a")
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{
		"controller_reconcile_total{controller=twice,result=success}":                                  2,
		"controller_reconcile_total{controller=twice,result=panic}":                                    0,
		"controller_max_workers{controller=twice}":                                                     2,
		"controller_stale_reads_total{controller=twice}":                                               2,
		"controller_dropped_total{controller=twice,reason=shutdown}":                                   2,
		"controller_finalizer_attempts_total{controller=twice,finalizer=example.com/a,result=timeout}": 2,
	})
}

// TestControllersBeyondTheLimit: what exceeds a limit is one controller called other, or one finalizer.
func TestControllersBeyondTheLimit(t *testing.T) {
	obs, reg := newObserver(t, quiet)
	obs.controllers.names.Limit, obs.controllers.finalizers.Limit = 2, 2
	use(obs, "a", "example.com/a")
	use(obs, "b", "example.com/b")
	one := len(metricstest.Take(t, reg)) / 2
	use(obs, "b", "example.com/c")
	use(obs, "b", "example.com/d")
	use(obs, "c", "example.com/a")
	use(obs, "d", "example.com/a")
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{
		"controller_reconcile_total{controller=a,result=success}":                                      1,
		"controller_reconcile_total{controller=b,result=success}":                                      3,
		"controller_reconcile_total{controller=other,result=success}":                                  2,
		"controller_finalizer_overdue{controller=b,finalizer=example.com/b}":                           1,
		"controller_finalizer_attempts_total{controller=b,finalizer=other,result=timeout}":             2,
		"controller_finalizer_attempts_total{controller=other,finalizer=example.com/a,result=timeout}": 2,
		"controller_dropped_total{controller=other,reason=shutdown}":                                   2,
	})

	for _, controller := range []string{"a", "b", "c", "d"} {
		obs.ForgetController(controller)
	}
	if s := withoutOverflows(metricstest.Take(t, reg)); len(s) != one {
		t.Errorf("there are %d series of other, and %d of one controller:\n%s", len(s), one, s)
	}
	// There is room again for all but the finalizer that other still has.
	use(obs, "e", "example.com/e")
	use(obs, "f", "example.com/f")
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{
		"controller_finalizer_overdue{controller=e,finalizer=example.com/e}": 1,
		"controller_finalizer_overdue{controller=f,finalizer=other}":         1,
	})
	obs.ForgetController("e")
	obs.ForgetController("f")
	obs.ForgetController("other")
	withoutOverflows(metricstest.Take(t, reg)).Equal(t, metricstest.Snapshot{})
}

// withoutOverflows leaves out that labels have had no room, which is never forgotten.
func withoutOverflows(s metricstest.Snapshot) metricstest.Snapshot {
	maps.DeleteFunc(s, func(series string, _ float64) bool {
		return strings.HasPrefix(series, catalog.InformerLabelOverflow.Name)
	})
	return s
}

// TestControllersInParallel: decorators are made, called, scraped and forgotten at the same time.
func TestControllersInParallel(t *testing.T) {
	obs, reg := newObserver(t, quiet)
	var workers sync.WaitGroup
	for i := range 4 {
		workers.Go(func() {
			for range 50 {
				use(obs, fmt.Sprint("controller-", i%2), "example.com/a")
				metricstest.Take(t, reg)
				obs.ForgetController(fmt.Sprint("controller-", i%2))
			}
		})
	}
	workers.Wait()
	metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
}
