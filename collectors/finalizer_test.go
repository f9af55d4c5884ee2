package collectors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

const (
	testFinalizer = "example.com/cleanup"
	testDeadline  = time.Minute
)

// cleaner is a decorated clean-up whose end a test decides.
type cleaner struct {
	*testing.T
	obs  *Observer
	reg  *prometheus.Registry
	does func(context.Context, *corev1.Pod) error
	try  func(context.Context, *corev1.Pod) error
}

func newCleaner(t *testing.T, deadline time.Duration, options ...FinalizerOptions) *cleaner {
	obs, reg := newObserver(t)
	c := &cleaner{T: t, obs: obs, reg: reg, does: func(context.Context, *corev1.Pod) error { return nil }}
	c.try = Finalizer(obs, "c", testFinalizer, deadline, func(ctx context.Context, p *corev1.Pod) error { return c.does(ctx, p) }, options...)
	return c
}

// ends makes attempts end with an error after a time, or when their context does.
func (c *cleaner) ends(after time.Duration, err error) {
	c.does = func(ctx context.Context, _ *corev1.Pod) error {
		if !sleep(ctx, after) {
			return ctx.Err()
		}
		return err
	}
}

// want compares the attempts so far, and the objects that are overdue.
func (c *cleaner) want(overdue float64, attempts metricstest.Snapshot) {
	c.Helper()
	s := metricstest.Take(c, c.reg)
	const labels = "{controller=c,finalizer=" + testFinalizer
	want := metricstest.Snapshot{"controller_finalizer_overdue" + labels + "}": overdue}
	for _, result := range catalog.LabelCleanupResult.Values {
		want["controller_finalizer_attempts_total"+labels+",result="+result+"}"] = attempts[result]
		want["controller_finalizer_duration_seconds_count"+labels+",result="+result+"}"] = attempts[result]
	}
	check(c.T, s, want)
}

func deleted(uid types.UID) *corev1.Pod {
	now := metav1.Now()
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, DeletionTimestamp: &now, Finalizers: []string{testFinalizer}}}
}

// TestFinalizerResults covers S16: how each attempt ended.
func TestFinalizerResults(t *testing.T) {
	for _, c := range []struct {
		name     string
		deadline time.Duration
		enforce  bool
		// The attempt ends after a time with an error, or with its context, which ends after callers.
		after, callers time.Duration
		err            error
		want           string
		// took is how long it lasts.
		took time.Duration
	}{
		{name: "succeeds", deadline: testDeadline, after: time.Second, want: catalog.CleanupSuccess, took: time.Second},
		{name: "fails", deadline: testDeadline, after: time.Second, err: errTest, want: catalog.CleanupError, took: time.Second},
		{name: "succeeds late", deadline: testDeadline, after: time.Hour, want: catalog.CleanupSuccess, took: time.Hour},
		{name: "fails late", deadline: testDeadline, after: time.Hour, err: errTest, want: catalog.CleanupTimeout, took: time.Hour},
		{name: "fails in time by the caller's deadline", deadline: testDeadline, after: time.Hour, callers: time.Second, want: catalog.CleanupTimeout, took: time.Second},
		{name: "is ended", deadline: testDeadline, enforce: true, after: time.Hour, want: catalog.CleanupTimeout, took: testDeadline},
		{name: "is ended by the caller first", deadline: testDeadline, enforce: true, after: time.Hour, callers: time.Second, want: catalog.CleanupTimeout, took: time.Second},
		{name: "has no deadline", after: time.Hour, err: errTest, want: catalog.CleanupError, took: time.Hour},
		{name: "has no deadline to enforce", enforce: true, after: time.Hour, want: catalog.CleanupSuccess, took: time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newCleaner(t, c.deadline, FinalizerOptions{Enforce: c.enforce})
				r.ends(c.after, c.err)
				ctx := t.Context()
				if c.callers > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.callers)
					defer cancel()
				}
				begin := time.Now()
				err := r.try(ctx, deleted("a"))
				if took := time.Since(begin); took != c.took {
					t.Errorf("it took %v", took)
				}
				if (err == nil) != (c.want == catalog.CleanupSuccess) || c.err != nil && !errors.Is(err, c.err) {
					t.Errorf("it returned %v", err)
				}
				overdue := 0.0
				if err != nil && c.deadline > 0 && c.took >= c.deadline {
					overdue = 1
				}
				r.want(overdue, metricstest.Snapshot{c.want: 1})
				s := metricstest.Take(t, r.reg)
				if got := s["controller_finalizer_duration_seconds_sum{controller=c,finalizer="+testFinalizer+",result="+c.want+"}"]; got != c.took.Seconds() {
					t.Errorf("%v s are reported", got)
				}
			})
		})
	}
}

// TestFinalizerOnlyObserves: the clean-up gets the caller's context and object.
func TestFinalizerOnlyObserves(t *testing.T) {
	object := deleted("a")
	c := newCleaner(t, testDeadline)
	c.does = func(ctx context.Context, p *corev1.Pod) error {
		if ctx != t.Context() || p != object {
			t.Errorf("called with %v, %v", ctx, p)
		}
		return nil
	}
	if err := c.try(t.Context(), object); err != nil {
		t.Error(err)
	}
}

// TestFinalizerOverdue covers S16: an object is overdue from its deadline on, counted from the first attempt, while one
// fails after the other or hangs, until one succeeds.
func TestFinalizerOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCleaner(t, testDeadline)
		c.want(0, nil)
		c.ends(time.Second, errTest)
		_, _ = c.try(t.Context(), deleted("a")), c.try(t.Context(), deleted("a"))
		c.want(0, metricstest.Snapshot{catalog.CleanupError: 2})
		time.Sleep(testDeadline - 2*time.Second)
		c.want(1, metricstest.Snapshot{catalog.CleanupError: 2})

		// Another one hangs, which shows before it returns.
		release := make(chan struct{})
		c.does = func(context.Context, *corev1.Pod) error { <-release; return nil }
		var hangs sync.WaitGroup
		hangs.Go(func() { _ = c.try(t.Context(), deleted("b")) })
		time.Sleep(testDeadline - time.Second)
		c.want(1, metricstest.Snapshot{catalog.CleanupError: 2})
		time.Sleep(time.Second)
		c.want(2, metricstest.Snapshot{catalog.CleanupError: 2})
		close(release)
		hangs.Wait()
		c.want(1, metricstest.Snapshot{catalog.CleanupError: 2, catalog.CleanupSuccess: 1})

		// Clean-ups are idempotent: one that succeeds again changes nothing.
		_, _ = c.try(t.Context(), deleted("a")), c.try(t.Context(), deleted("a"))
		c.want(0, metricstest.Snapshot{catalog.CleanupError: 2, catalog.CleanupSuccess: 3})
		time.Sleep(2 * testDeadline)
		c.want(0, metricstest.Snapshot{catalog.CleanupError: 2, catalog.CleanupSuccess: 3})
	})
}

// TestFinalizerGivenUp: what nobody tries any more is not overdue for ever, and what somebody tries is, however long it
// takes.
func TestFinalizerGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCleaner(t, testDeadline)
		c.ends(cleanupMemory+2*time.Hour, errTest)
		var hangs sync.WaitGroup
		hangs.Go(func() { _ = c.try(t.Context(), deleted("hangs")) })
		synctest.Wait()
		c.ends(0, errTest)
		for n := range 3 {
			_ = c.try(t.Context(), deleted("a"))
			time.Sleep(cleanupMemory)
			c.want(2, metricstest.Snapshot{catalog.CleanupError: float64(n + 1)})
		}
		time.Sleep(time.Second)
		c.want(1, metricstest.Snapshot{catalog.CleanupError: 3})
		c.remembers(1)

		// It is as good as given up if there was no scrape to see it.
		_ = c.try(t.Context(), deleted("b"))
		time.Sleep(cleanupMemory + time.Second)
		_ = c.try(t.Context(), deleted("b"))
		c.want(1, metricstest.Snapshot{catalog.CleanupError: 5})
		hangs.Wait()
		c.remembers(2)
	})
}

// TestForgetCleanup: an object that is gone without its clean-up having succeeded is not overdue, and one that comes
// back has its whole time again.
func TestForgetCleanup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCleaner(t, testDeadline)
		c.ends(0, errTest)
		named := func(namespace, name string) *corev1.Pod {
			p := deleted(types.UID(namespace + "/" + name))
			p.Namespace, p.Name = namespace, name
			return p
		}
		objects := []*corev1.Pod{named("ns", "a"), named("ns", "b"), named("other", "a")}
		for _, p := range objects {
			_ = c.try(t.Context(), p)
		}
		time.Sleep(testDeadline)
		c.want(3, metricstest.Snapshot{catalog.CleanupError: 3})
		for _, unknown := range [][2]string{{"c", "example.com/unknown"}, {"unknown", testFinalizer}} {
			c.obs.ForgetCleanup(unknown[0], unknown[1], types.NamespacedName{Namespace: "ns", Name: "a"})
		}
		c.obs.ForgetCleanup("c", testFinalizer, types.NamespacedName{Namespace: "ns", Name: "unknown"})
		c.want(3, metricstest.Snapshot{catalog.CleanupError: 3})
		c.obs.ForgetCleanup("c", testFinalizer, types.NamespacedName{Namespace: "ns", Name: "a"})
		c.want(2, metricstest.Snapshot{catalog.CleanupError: 3})
		_ = c.try(t.Context(), objects[0])
		time.Sleep(testDeadline - time.Second)
		c.want(2, metricstest.Snapshot{catalog.CleanupError: 4})
		time.Sleep(time.Second)
		c.want(3, metricstest.Snapshot{catalog.CleanupError: 4})
		if s := metricstest.Take(t, c.reg).Family("controller_finalizer_overdue"); len(s) != 1 {
			t.Errorf("what is unknown has got series:\n%s", s)
		}

		// One that is being cleaned up is counted when that ends, and stays forgotten.
		c.ends(time.Minute, errTest)
		var tries sync.WaitGroup
		tries.Go(func() { _ = c.try(t.Context(), objects[1]) })
		synctest.Wait()
		c.obs.ForgetCleanup("c", testFinalizer, types.NamespacedName{Namespace: "ns", Name: "b"})
		tries.Wait()
		c.want(2, metricstest.Snapshot{catalog.CleanupError: 5})
		c.remembers(2)
	})
}

func (c *cleaner) remembers(want int) {
	c.Helper()
	if n := len(c.obs.cleanups("c", testFinalizer).objects); n != want {
		c.Errorf("%d objects are remembered, want %d", n, want)
	}
}

// TestFinalizerPanics covers S16 and S21: a panic is counted and goes on, and the object is still to be cleaned up.
func TestFinalizerPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCleaner(t, testDeadline)
		c.does = func(context.Context, *corev1.Pod) error { panic(errTest) }
		func() {
			defer func() {
				if value := recover(); value != any(errTest) {
					t.Errorf("recovered %v", value)
				}
			}()
			_ = c.try(t.Context(), deleted("a"))
		}()
		c.want(0, metricstest.Snapshot{catalog.CleanupPanic: 1})
		time.Sleep(testDeadline)
		c.want(1, metricstest.Snapshot{catalog.CleanupPanic: 1})
		time.Sleep(cleanupMemory) // the attempt counts as ended
		c.want(0, metricstest.Snapshot{catalog.CleanupPanic: 1})
	})
}

// TestFinalizerWithoutObject: a clean-up that is called with nothing may do with it what it likes.
func TestFinalizerWithoutObject(t *testing.T) {
	c := newCleaner(t, testDeadline)
	_ = c.try(t.Context(), nil)
	c.want(0, metricstest.Snapshot{catalog.CleanupSuccess: 1})
}

// TestFinalizersAreBounded: beyond a number of objects attempts are counted, and the rest is a lower bound.
func TestFinalizersAreBounded(t *testing.T) {
	c := newCleaner(t, 1)
	c.ends(0, errTest)
	for i := range maxCleanups + 10 {
		_ = c.try(t.Context(), deleted(types.UID(fmt.Sprint(i))))
	}
	c.want(maxCleanups, metricstest.Snapshot{catalog.CleanupTimeout: maxCleanups + 10})
	// One that is known is tried again, and makes room.
	c.ends(0, nil)
	_ = c.try(t.Context(), deleted("0"))
	c.ends(0, errTest)
	_ = c.try(t.Context(), deleted("new"))
	c.remembers(maxCleanups)
}

// TestFinalizersInParallel: attempts at one object are not told apart, and the one that succeeds counts.
func TestFinalizersInParallel(t *testing.T) {
	c := newCleaner(t, testDeadline)
	var workers sync.WaitGroup
	for i := range 8 {
		workers.Go(func() {
			for range 200 {
				_ = c.try(t.Context(), deleted(types.UID(fmt.Sprint(i%2))))
			}
			metricstest.Take(t, c.reg)
		})
	}
	workers.Wait()
	c.want(0, metricstest.Snapshot{catalog.CleanupSuccess: 8 * 200})
	c.remembers(0)
}

// TestRollbackDuration covers S16: how long it took to undo a failed clean-up, by result.
func TestRollbackDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := newObserver(t)
		var does func() error
		rollback := FinalizerRollback(obs, "c", testFinalizer, func(context.Context, *corev1.Pod) error { return does() })
		object := deleted("a")
		does = func() error { time.Sleep(time.Second); return nil }
		if err := rollback(t.Context(), object); err != nil {
			t.Error(err)
		}
		does = func() error { time.Sleep(2 * time.Second); return errTest }
		if err := rollback(t.Context(), object); !errors.Is(err, errTest) {
			t.Error(err)
		}
		does = func() error { time.Sleep(4 * time.Second); panic(errTest) }
		func() {
			defer func() { _ = recover() }()
			_ = rollback(t.Context(), object)
			t.Error("the panic was swallowed")
		}()
		s := metricstest.Take(t, reg)
		for result, seconds := range map[string]float64{catalog.CleanupSuccess: 1, catalog.CleanupError: 2, catalog.CleanupPanic: 4} {
			const name, labels = "controller_finalizer_rollback_duration_seconds", "{controller=c,finalizer=" + testFinalizer + ",result="
			check(t, s, metricstest.Snapshot{name + "_count" + labels + result + "}": 1, name + "_sum" + labels + result + "}": seconds})
		}
		if len(s) != 2*len(catalog.LabelRollbackResult.Values) {
			t.Errorf("a rollback says nothing about clean-ups:\n%s", s)
		}
	})
}
