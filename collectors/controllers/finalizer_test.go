package controllers_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

const (
	testFinalizer = "example.com/cleanup"
	testDeadline  = time.Minute
)

// cleaner is a decorated cleanup with a result that the test controls.
type cleaner struct {
	*testing.T
	obs  *collectors.Observer
	reg  *prometheus.Registry
	does func(context.Context, *corev1.Pod) error
	try  func(context.Context, *corev1.Pod) error
}

func newCleaner(t *testing.T, deadline time.Duration) *cleaner {
	obs, reg := observertest.New(t)
	c := &cleaner{T: t, obs: obs, reg: reg, does: func(context.Context, *corev1.Pod) error { return nil }}
	c.try = controllers.NewFinalizer(obs, "c", testFinalizer,
		func(ctx context.Context, p *corev1.Pod) error { return c.does(ctx, p) }, controllers.FinalizerOptions{Deadline: deadline})
	return c
}

// ends makes attempts end with an error after a duration, or with their context.
func (c *cleaner) ends(after time.Duration, err error) {
	c.does = func(ctx context.Context, _ *corev1.Pod) error {
		select {
		case <-time.After(after):
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// want compares the number of overdue objects, and the attempts by result.
func (c *cleaner) want(overdue float64, attempts metricstest.Snapshot) {
	c.Helper()
	s := metricstest.Take(c, c.reg)
	const labels = "{controller=c,finalizer=" + testFinalizer
	want := metricstest.Snapshot{"controller_finalizer_overdue" + labels + "}": overdue}
	for _, result := range catalog.ControllerFinalizerAttempts.Values("result") {
		want["controller_finalizer_attempts_total"+labels+",result="+result+"}"] = attempts[result]
		if duration := "controller_finalizer_duration_seconds_count" + labels + ",result=" + result + "}"; attempts[result] != 0 {
			want[duration] = attempts[result]
		} else if _, ok := s[duration]; ok {
			c.Errorf("%s exists without an observation", duration)
		}
	}
	check(c.T, s, want)
}

func deleted(uid types.UID) *corev1.Pod {
	now := metav1.Now()
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, DeletionTimestamp: &now, Finalizers: []string{testFinalizer}}}
}

// TestFinalizerResults covers S16 and S35: attempts and their duration by result.
func TestFinalizerResults(t *testing.T) {
	for _, c := range []struct {
		name     string
		deadline time.Duration
		// The attempt ends with an error after a duration, or with its context, which may have a timeout.
		after, timeout time.Duration
		err            error
		want           string
		took           time.Duration
	}{
		{name: "succeeds", deadline: testDeadline, after: time.Second, want: "success", took: time.Second},
		{name: "fails", deadline: testDeadline, after: time.Second, err: errTest, want: "error", took: time.Second},
		{name: "succeeds late", deadline: testDeadline, after: time.Hour, want: "success", took: time.Hour},
		{name: "fails late", deadline: testDeadline, after: time.Hour, err: errTest, want: "timeout", took: time.Hour},
		{name: "times out before the deadline", deadline: testDeadline, after: time.Hour, timeout: time.Second, want: "timeout", took: time.Second},
		{name: "times out at the deadline", deadline: testDeadline, after: time.Hour, timeout: testDeadline, want: "timeout", took: testDeadline},
		{name: "fails before its timeout", deadline: testDeadline, after: time.Second, timeout: testDeadline, err: errTest, want: "error", took: time.Second},
		{name: "fails late without a deadline", after: time.Hour, err: errTest, want: "error", took: time.Hour},
		{name: "times out without a deadline", after: time.Hour, timeout: time.Second, want: "timeout", took: time.Second},
		{name: "succeeds late without a deadline", after: time.Hour, want: "success", took: time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newCleaner(t, c.deadline)
				r.ends(c.after, c.err)
				ctx := t.Context()
				if c.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.timeout)
					defer cancel()
				}
				begin := time.Now()
				err := r.try(ctx, deleted("a"))
				if took := time.Since(begin); took != c.took {
					t.Errorf("the attempt took %v", took)
				}
				if (err == nil) != (c.want == "success") || c.err != nil && !errors.Is(err, c.err) {
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

// TestFinalizerOnlyObserves: the cleanup gets the caller's context and object.
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

// TestFinalizerOverdue covers S16: an object is overdue from its deadline on, counted from the first attempt, while attempts
// fail or hang, until one succeeds.
func TestFinalizerOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCleaner(t, testDeadline)
		c.want(0, nil)
		c.ends(time.Second, errTest)
		_, _ = c.try(t.Context(), deleted("a")), c.try(t.Context(), deleted("a"))
		c.want(0, metricstest.Snapshot{"error": 2})
		time.Sleep(testDeadline - 2*time.Second)
		c.want(1, metricstest.Snapshot{"error": 2})

		// An attempt at another object hangs. The object is overdue before the attempt returns.
		release := make(chan struct{})
		c.does = func(context.Context, *corev1.Pod) error { <-release; return nil }
		var hangs sync.WaitGroup
		hangs.Go(func() { _ = c.try(t.Context(), deleted("b")) })
		time.Sleep(testDeadline - time.Second)
		c.want(1, metricstest.Snapshot{"error": 2})
		time.Sleep(time.Second)
		c.want(2, metricstest.Snapshot{"error": 2})
		close(release)
		hangs.Wait()
		c.want(1, metricstest.Snapshot{"error": 2, "success": 1})

		// Cleanups are idempotent: a second success changes nothing.
		_, _ = c.try(t.Context(), deleted("a")), c.try(t.Context(), deleted("a"))
		c.want(0, metricstest.Snapshot{"error": 2, "success": 3})
		time.Sleep(2 * testDeadline)
		c.want(0, metricstest.Snapshot{"error": 2, "success": 3})
	})
}

// TestCleanupsExpire: an object without attempts is not overdue forever, but an object with a hung attempt is.
func TestCleanupsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCleaner(t, testDeadline)
		c.ends(controllers.CleanupMemory+2*time.Hour, errTest)
		var hangs sync.WaitGroup
		hangs.Go(func() { _ = c.try(t.Context(), deleted("hangs")) })
		synctest.Wait()
		c.ends(0, errTest)
		for n := range 3 {
			_ = c.try(t.Context(), deleted("a"))
			time.Sleep(controllers.CleanupMemory)
			c.want(2, metricstest.Snapshot{"error": float64(n + 1)})
		}
		time.Sleep(time.Second)
		c.want(1, metricstest.Snapshot{"error": 3})
		c.remembers(1)

		// An object expires without a scrape, too.
		_ = c.try(t.Context(), deleted("b"))
		time.Sleep(controllers.CleanupMemory + time.Second)
		_ = c.try(t.Context(), deleted("b"))
		c.want(1, metricstest.Snapshot{"error": 5})
		hangs.Wait()
		c.remembers(2)
	})
}

// TestForgetCleanup: an object that is forgotten is not overdue. If its cleanup is tried again, the deadline restarts.
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
		c.want(3, metricstest.Snapshot{"error": 3})
		for _, unknown := range [][2]string{{"c", "example.com/unknown"}, {"unknown", testFinalizer}} {
			controllers.ForgetCleanup(c.obs, unknown[0], unknown[1], types.NamespacedName{Namespace: "ns", Name: "a"})
		}
		controllers.ForgetCleanup(c.obs, "c", testFinalizer, types.NamespacedName{Namespace: "ns", Name: "unknown"})
		c.want(3, metricstest.Snapshot{"error": 3})
		controllers.ForgetCleanup(c.obs, "c", testFinalizer, types.NamespacedName{Namespace: "ns", Name: "a"})
		c.want(2, metricstest.Snapshot{"error": 3})
		_ = c.try(t.Context(), objects[0])
		time.Sleep(testDeadline - time.Second)
		c.want(2, metricstest.Snapshot{"error": 4})
		time.Sleep(time.Second)
		c.want(3, metricstest.Snapshot{"error": 4})
		if s := metricstest.Take(t, c.reg).Family("controller_finalizer_overdue"); len(s) != 1 {
			t.Errorf("there are series for unknown names:\n%s", s)
		}

		// An attempt in progress is counted when it ends, and its object stays forgotten.
		c.ends(time.Minute, errTest)
		var tries sync.WaitGroup
		tries.Go(func() { _ = c.try(t.Context(), objects[1]) })
		synctest.Wait()
		controllers.ForgetCleanup(c.obs, "c", testFinalizer, types.NamespacedName{Namespace: "ns", Name: "b"})
		tries.Wait()
		c.want(2, metricstest.Snapshot{"error": 5})
		c.remembers(2)
	})
}

func (c *cleaner) remembers(want int) {
	c.Helper()
	if n := controllers.Remembered(c.obs, "c", testFinalizer); n != want {
		c.Errorf("%d objects are remembered, want %d", n, want)
	}
}

// TestFinalizerPanics covers S16 and S21: a panic is counted and not recovered, and the object becomes overdue.
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
		c.want(0, metricstest.Snapshot{"panic": 1})
		time.Sleep(testDeadline)
		c.want(1, metricstest.Snapshot{"panic": 1})
		time.Sleep(controllers.CleanupMemory) // the attempt has ended
		c.want(0, metricstest.Snapshot{"panic": 1})
	})
}

// TestFinalizerOfNil: a cleanup may be called with a nil object.
func TestFinalizerOfNil(t *testing.T) {
	c := newCleaner(t, testDeadline)
	_ = c.try(t.Context(), nil)
	c.want(0, metricstest.Snapshot{"success": 1})
}

// TestFinalizersAreBounded: beyond the limit, attempts are counted, and the number of overdue objects is a lower bound.
func TestFinalizersAreBounded(t *testing.T) {
	c := newCleaner(t, 1)
	c.ends(0, errTest)
	for i := range controllers.MaxCleanups + 10 {
		_ = c.try(t.Context(), deleted(types.UID(fmt.Sprint(i))))
	}
	c.want(controllers.MaxCleanups, metricstest.Snapshot{"timeout": controllers.MaxCleanups + 10})
	// A success makes room for another object.
	c.ends(0, nil)
	_ = c.try(t.Context(), deleted("0"))
	c.ends(0, errTest)
	_ = c.try(t.Context(), deleted("new"))
	c.remembers(controllers.MaxCleanups)
}

// TestFinalizersInParallel: all concurrent attempts are counted, and no object is remembered after a success.
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
	c.want(0, metricstest.Snapshot{"success": 8 * 200})
	c.remembers(0)
}

// TestRollbackDuration covers S16: the duration of rollbacks by result.
func TestRollbackDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		var does func() error
		rollback := controllers.NewRollback(obs, "c", testFinalizer, func(context.Context, *corev1.Pod) error { return does() })
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
			t.Error("the panic was recovered")
		}()
		s := metricstest.Take(t, reg)
		for result, seconds := range map[string]float64{"success": 1, "error": 2, "panic": 4} {
			const name, labels = "controller_finalizer_rollback_duration_seconds", "{controller=c,finalizer=" + testFinalizer + ",result="
			check(t, s, metricstest.Snapshot{name + "_count" + labels + result + "}": 1, name + "_sum" + labels + result + "}": seconds})
		}
		if len(s) != 2*len(catalog.ControllerFinalizerRollbackDuration.Values("result")) {
			t.Errorf("a rollback has other series:\n%s", s)
		}
	})
}

// Without tracing, an object that is not a pointer is not allocated.
func TestRollbackAllocations(t *testing.T) {
	obs, _ := observertest.New(t)
	pointer := controllers.NewRollback(obs, "c", testFinalizer, func(context.Context, *corev1.Pod) error { return nil })
	value := controllers.NewRollback(obs, "c", testFinalizer, func(context.Context, types.NamespacedName) error { return nil })
	pod, name := deleted("a"), types.NamespacedName{Namespace: "ns", Name: "a"}
	want := testing.AllocsPerRun(100, func() { _ = pointer(t.Context(), pod) })
	if got := testing.AllocsPerRun(100, func() { _ = value(t.Context(), name) }); got > want {
		t.Errorf("%v allocations for a name, %v for a pointer", got, want)
	}
}

// A cleanup timeout is recorded as a span event and logged with the trace ID. A rollback has a span and is logged too (S35).
func TestFinalizerSpans(t *testing.T) {
	var log bytes.Buffer
	tracer := &spantest.Tracer{}
	obs, _ := observertest.New(t, func(o *collectors.Options) { o.Tracer, o.Logger = tracer, slog.New(slog.NewTextHandler(&log, nil)) })
	cleanup := controllers.NewFinalizer(obs, "c", testFinalizer, func(ctx context.Context, _ *corev1.Pod) error { <-ctx.Done(); return ctx.Err() }, controllers.FinalizerOptions{})
	rollback := controllers.NewRollback(obs, "c", testFinalizer, func(context.Context, *corev1.Pod) error { return errors.New("rollback") })
	object := deleted("a")
	object.Namespace, object.Name = "ns", "pod"
	reconcile := controllers.NewSyncHandler(obs, "c", func(ctx context.Context, _ string) error {
		expired, cancel := context.WithTimeout(ctx, time.Nanosecond)
		defer cancel()
		return errors.Join(cleanup(expired, object), rollback(ctx, object))
	}, controllers.Options{})
	if reconcile(t.Context(), "a") == nil {
		t.Fatal("no error")
	}
	parent, c, r := tracer.Ended(spans.Reconcile)[0], tracer.Ended(spans.Cleanup)[0], tracer.Ended(spans.Rollback)[0]
	if c.Parent != parent.Context || c.Finalizer != testFinalizer || c.Object != "ns/pod" || c.Result.Result != "timeout" || !slices.Equal(c.Events, []string{"finalizer.timeout"}) {
		t.Errorf("the cleanup is %+v", c)
	}
	if r.Parent != parent.Context || r.Object != "ns/pod" || r.Result.Result != "error" || !r.Failed {
		t.Errorf("the rollback is %+v", r)
	}
	names, id := "controller=c finalizer="+testFinalizer+" result=", "trace_id="+hex.EncodeToString(parent.Context.TraceID[:])
	for _, message := range []string{"exceeded its deadline", "rolled back"} {
		if !slices.ContainsFunc(strings.Split(log.String(), "\n"), func(line string) bool {
			return strings.Contains(line, message) && strings.Contains(line, names) && strings.Contains(line, id)
		}) {
			t.Errorf("no line %q with %s and %s:\n%s", message, names, id, &log)
		}
	}
}
