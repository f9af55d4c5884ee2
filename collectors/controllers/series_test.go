package controllers_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// use creates and calls a decorator of each kind. The returned function calls them again.
func use(obs *collectors.Observer, controller, finalizer string) (again func()) {
	ctx := context.Background()
	sync := controllers.NewSyncHandler(obs, controller, func(context.Context, string) error { return nil }, controllers.Options{MaxWorkers: 2})
	cleanup := controllers.NewFinalizer(obs, controller, finalizer,
		func(context.Context, *corev1.Pod) error { return errTest }, controllers.FinalizerOptions{Deadline: 1})
	rollback := controllers.NewRollback(obs, controller, finalizer, func(context.Context, *corev1.Pod) error { return nil })
	step := controllers.NewShutdownStep(obs, controller, controllers.StopIntake, success)
	writes := controllers.NewWrites[string](obs, controller)
	again = func() {
		_, _, _, _ = sync(ctx, "key"), cleanup(ctx, &corev1.Pod{}), rollback(ctx, &corev1.Pod{}), step(ctx)
		writes.Wrote("key", at("2"))
		writes.Stale("key", at("1"))
	}
	again()
	return again
}

// TestForget covers S22: Forget deletes the series of one controller and no other. Late calls of its decorators have no
// effect, even with a successor of the same name.
func TestForget(t *testing.T) {
	obs, reg := observertest.New(t)
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
		catalog.ControllerFinalizerRollbackDuration, catalog.ControllerFinalizerOverdue,
	} {
		if name := m.Define().Name; !families[name] {
			t.Errorf("%s is not reported:\n%s", name, with)
		}
	}

	controllers.Forget(obs, "never seen")
	metricstest.Take(t, reg).Equal(t, with)
	controllers.Forget(obs, "goes")
	metricstest.Take(t, reg).Equal(t, before)
	again()
	metricstest.Take(t, reg).Equal(t, before)

	use(obs, "goes", "example.com/a")
	successor := metricstest.Take(t, reg)
	again()
	metricstest.Take(t, reg).Equal(t, successor)
	if got := successor["controller_reconcile_total{controller=goes,result=success}"]; got != 1 {
		t.Errorf("the successor has %v reconciles", got)
	}
	controllers.Forget(obs, "goes")
	controllers.Forget(obs, "stays")
	metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
}

// TestDurationOfNewResult: a histogram is created with its first observation, and not after Forget.
func TestDurationOfNewResult(t *testing.T) {
	obs, reg := observertest.New(t)
	var ends error
	sync := controllers.NewSyncHandler(obs, "c", func(context.Context, string) error { return ends }, controllers.Options{})
	const durations = "controller_reconcile_duration_seconds_count{controller=c,result="
	reported := func(result string) bool {
		_, ok := metricstest.Take(t, reg)[durations+result+"}"]
		return ok
	}
	_ = sync(t.Context(), "key")
	if !reported("success") || reported("error") {
		t.Errorf("after a success:\n%s", metricstest.Take(t, reg))
	}
	ends = errTest
	_ = sync(t.Context(), "key")
	if !reported("error") || reported("terminal") {
		t.Errorf("after an error:\n%s", metricstest.Take(t, reg))
	}
	controllers.Forget(obs, "c")
	ends = errTerminal{errTest}
	_ = sync(t.Context(), "key")
	metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
}

// TestSharedSeries: decorators with the same labels share their series.
func TestSharedSeries(t *testing.T) {
	obs, reg := observertest.New(t)
	first, second := use(obs, "twice", "example.com/a"), use(obs, "twice", "example.com/a")
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{
		"controller_reconcile_total{controller=twice,result=success}":                                  2,
		"controller_reconcile_total{controller=twice,result=panic}":                                    0,
		"controller_max_workers{controller=twice}":                                                     4,
		"controller_stale_reads_total{controller=twice}":                                               2,
		"controller_finalizer_attempts_total{controller=twice,finalizer=example.com/a,result=timeout}": 2,
	})
	runtime.KeepAlive(first)
	runtime.KeepAlive(second)
}

// TestLimits: controllers and finalizers beyond a limit are reported as "other".
func TestLimits(t *testing.T) {
	obs, reg := observertest.New(t, func(o *collectors.Options) { o.Limits.Controllers, o.Limits.Finalizers = 2, 2 })
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
	})

	for _, controller := range []string{"a", "b", "c", "d"} {
		controllers.Forget(obs, controller)
	}
	if s := withoutOverflows(metricstest.Take(t, reg)); len(s) != one {
		t.Errorf("%d series of other, and %d of one controller:\n%s", len(s), one, s)
	}
	// New values are accepted again. One finalizer still belongs to the controller other.
	use(obs, "e", "example.com/e")
	use(obs, "f", "example.com/f")
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{
		"controller_finalizer_overdue{controller=e,finalizer=example.com/e}": 1,
		"controller_finalizer_overdue{controller=f,finalizer=other}":         1,
	})
	controllers.Forget(obs, "e")
	controllers.Forget(obs, "f")
	controllers.Forget(obs, "other")
	withoutOverflows(metricstest.Take(t, reg)).Equal(t, metricstest.Snapshot{})
}

// withoutOverflows removes the overflow counter, which belongs to no controller.
func withoutOverflows(s metricstest.Snapshot) metricstest.Snapshot {
	maps.DeleteFunc(s, func(series string, _ float64) bool {
		return strings.HasPrefix(series, catalog.InformerLabelOverflow.Name)
	})
	return s
}

// TestConcurrentUse creates, calls, scrapes and forgets decorators concurrently.
func TestConcurrentUse(t *testing.T) {
	obs, reg := observertest.New(t)
	var workers sync.WaitGroup
	for i := range 4 {
		workers.Go(func() {
			for range 50 {
				use(obs, fmt.Sprint("controller-", i%2), "example.com/a")
				metricstest.Take(t, reg)
				controllers.Forget(obs, fmt.Sprint("controller-", i%2))
			}
		})
	}
	workers.Wait()
	metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
}
