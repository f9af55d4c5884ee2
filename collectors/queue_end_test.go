package collectors

import (
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// finish shuts a queue down and works on what it holds until it says that it has shut down.
func finish(q limitingQueue) {
	q.ShutDown()
	for item, shutdown := q.Get(); !shutdown; item, shutdown = q.Get() {
		q.Done(item)
	}
}

// The series end when the queue has been shut down, a worker knows, and nobody works: not before any of these.
func TestQueueEnd(t *testing.T) {
	for name, make := range map[string]func(obs *Observer) *Queue[string]{
		"own":     func(obs *Observer) *Queue[string] { return NewQueue(obs, "c", backoffs()) },
		"wrapped": func(obs *Observer) *Queue[string] { return WrapQueue(obs, "c", plainQueue(nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			obs, reg := newObserver(t, withUpstream)
			q := make(obs)
			there := func(what string, want bool) {
				t.Helper()
				if got := len(metricstest.Take(t, reg)) > 0; got != want {
					t.Errorf("%s: there are series: %v", what, got)
				}
			}
			for _, item := range []string{"a", "b", "c"} {
				q.Add(item)
			}
			_, _ = q.Get()
			_, _ = q.Get()
			there("at work", true)
			q.ShutDown()
			there("shut down", true)
			q.Done("a")
			_, _ = q.Get()
			q.Done("c")
			there("all taken, but b is processed, and nobody knows of the shutdown", true)
			if _, shutdown := q.Get(); !shutdown {
				t.Fatal("no shutdown")
			}
			there("a worker knows, b is processed", true)
			q.Done("b")
			there("the end", false)
			// Late writes go nowhere.
			q.Add("late")
			q.AddAfter("late", time.Hour)
			q.AddRateLimited("late")
			q.Forget("late")
			q.Done("late")
			q.Retry("late", errTest, 3)
			if _, shutdown := q.Get(); !shutdown {
				t.Error("no shutdown any more")
			}
			q.ShutDown()
			q.ShutDownWithDrain()
			there("after late writes", false)

			successor := make(obs)
			q.Retry("late", TerminalError(errTest), 3)
			if s := metricstest.Take(t, reg); s[dropped("terminal")] != 0 {
				t.Error("what comes late is counted for a successor")
			}
			finish(successor)
			there("the end of the successor", false)
		})
	}
}

// A worker that is told of the shutdown ends nothing while an item that was added during its work is to be worked on.
func TestQueueEndAfterAnItemAddedAgain(t *testing.T) {
	for name, make := range map[string]func(obs *Observer) *Queue[string]{
		"own":     func(obs *Observer) *Queue[string] { return NewQueue(obs, "c", backoffs()) },
		"wrapped": func(obs *Observer) *Queue[string] { return WrapQueue(obs, "c", plainQueue(nil)) },
	} {
		obs, reg := newObserver(t)
		q := make(obs)
		q.Add("a")
		_, _ = q.Get()
		q.Add("a")
		q.ShutDown()
		_, _ = q.Get() // a worker is told
		q.Done("a")    // ready again
		if s := metricstest.Take(t, reg); len(s) == 0 {
			t.Errorf("%s: the series are gone, and an item is ready", name)
		}
		finish(q)
		if s := metricstest.Take(t, reg); len(s) != 0 {
			t.Errorf("%s: after the end:\n%s", name, s)
		}
	}
}

// slowQueue is a queue whose callers are held up while what they have done, or will do, is not known to others.
type slowQueue struct {
	workqueue.TypedRateLimitingInterface[string]
	afterGet, beforeDone func()
}

func (q *slowQueue) Get() (string, bool) {
	item, shutdown := q.TypedRateLimitingInterface.Get()
	if !shutdown {
		q.afterGet()
	}
	return item, shutdown
}

func (q *slowQueue) Done(item string) {
	q.beforeDone()
	q.TypedRateLimitingInterface.Done(item)
}

// A worker that is told of the shutdown ends nothing while another one is about to have an item, or to give one back that
// has been added again.
func TestWrappedQueueEndBetweenTwoWorkers(t *testing.T) {
	obs, reg := newObserver(t)
	inner := &slowQueue{TypedRateLimitingInterface: plainQueue(nil)}
	q := WrapQueue[string](obs, "c", inner)
	another := func(while string) func() {
		return func() {
			q.ShutDown()
			if _, shutdown := q.Get(); !shutdown {
				t.Error("no shutdown")
			}
			if s := metricstest.Take(t, reg); len(s) == 0 {
				t.Errorf("the series are gone %s", while)
			}
		}
	}
	q.Add("a")
	nothing := func() {}
	inner.afterGet = func() { q.Add("a"); another("while a worker gets the last item")() }
	inner.beforeDone = another("while an item that was added again is given back")
	item, _ := q.Get()
	q.Done(item)
	inner.afterGet, inner.beforeDone = nothing, nothing
	finish(q)
	if s := metricstest.Take(t, reg); len(s) != 0 {
		t.Errorf("after the end:\n%s", s)
	}
}

// A queue that is dropped without having been worked off has no series either.
func TestQueueThatNothingRefersTo(t *testing.T) {
	obs, reg := newObserver(t, withUpstream)
	NewQueue(obs, "c", backoffs()).ShutDown()
	WrapQueue(obs, "w", plainQueue(nil)).ShutDown()
	metricstest.Eventually(t, reg, "no series", func(s metricstest.Snapshot) bool {
		runtime.GC()
		return len(s) == 0
	})
}

// What the shutdown leaves behind is what was ready, what was to be processed again, and what waited.
func TestRemaining(t *testing.T) {
	for name, make := range map[string]func(obs *Observer) *Queue[string]{
		"own":     func(obs *Observer) *Queue[string] { return NewQueue(obs, "c", backoffs()) },
		"wrapped": func(obs *Observer) *Queue[string] { return WrapQueue(obs, "c", plainQueue(nil)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			obs, reg := newObserver(t)
			q := make(obs)
			_, release := obs.joinQueue("c")
			q.Add("hangs")
			_, _ = q.Get()
			q.Add("hangs")
			q.Add("a")
			q.AddAfter("b", time.Minute)
			q.AddAfter("c", time.Hour)
			synctest.Wait()
			q.ShutDown()
			q.Add("refused")
			q.AddAfter("refused", time.Hour)
			time.Sleep(30 * time.Minute) // nobody makes b ready any more
			if n := q.Remaining(); n != 4 {
				t.Errorf("%s: %d items are left", name, n)
			}
			q.Done("hangs")
			finish(q)
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{delayed: 0, oldest: 0})
			release()
			if s := metricstest.Take(t, reg); len(s) != 0 {
				t.Errorf("%s: after the end:\n%s", name, s)
			}
		})
	}
}

// An item that is refused on its way from waiting to ready is left behind, too.
func TestDueItemDuringTheShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := newObserver(t)
		q := NewQueue(obs, "c", backoffs())
		q.Add("hangs")
		_, _ = q.Get()
		q.AddAfter("a", time.Second)
		go q.ShutDownWithDrain() // unlike ShutDown, it does not stop client-go's goroutine
		time.Sleep(time.Minute)
		if n := q.Remaining(); n != 1 {
			t.Errorf("%d items are left", n)
		}
		q.Done("hangs")
		q.ShutDown()
	})
}

// queueMethods returns each method of a queue as a value.
var queueMethods = map[string]func(q *Queue[string]) any{
	"Add":               func(q *Queue[string]) any { return q.Add },
	"AddAfter":          func(q *Queue[string]) any { return q.AddAfter },
	"AddRateLimited":    func(q *Queue[string]) any { return q.AddRateLimited },
	"Done":              func(q *Queue[string]) any { return q.Done },
	"Forget":            func(q *Queue[string]) any { return q.Forget },
	"Get":               func(q *Queue[string]) any { return q.Get },
	"Len":               func(q *Queue[string]) any { return q.Len },
	"NumRequeues":       func(q *Queue[string]) any { return q.NumRequeues },
	"Remaining":         func(q *Queue[string]) any { return q.Remaining },
	"Retry":             func(q *Queue[string]) any { return q.Retry },
	"ShutDown":          func(q *Queue[string]) any { return q.ShutDown },
	"ShutDownWithDrain": func(q *Queue[string]) any { return q.ShutDownWithDrain },
	"ShuttingDown":      func(q *Queue[string]) any { return q.ShuttingDown },
}

// TestQueueMethodValues: whoever has only a method of a queue has the queue.
func TestQueueMethodValues(t *testing.T) {
	if n := reflect.TypeFor[*Queue[string]]().NumMethod(); n != len(queueMethods) {
		t.Fatalf("a queue has %d methods", n)
	}
	obs, reg := newObserver(t)
	held := map[string]any{}
	for method, value := range queueMethods {
		held[method] = value(NewQueue(obs, method, backoffs()))
	}
	for range 2 { // when what is not held is gone for the second time, so would be what has become so before
		NewQueue(obs, "not held", backoffs()).Add("a")
		metricstest.Eventually(t, reg, "no series of what is not held", func(s metricstest.Snapshot) bool {
			runtime.GC()
			_, there := s["controller_queue_oldest_item_seconds{controller=not held}"]
			return !there
		})
	}
	s := metricstest.Take(t, reg)
	for method := range held {
		if _, there := s["controller_queue_oldest_item_seconds{controller="+method+"}"]; !there {
			t.Errorf("%s does not keep the queue", method)
		}
	}
	runtime.KeepAlive(held)
}
