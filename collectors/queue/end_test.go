package queue_test

import (
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// finish shuts a queue down and processes its items until Get reports the shutdown.
func finish(q limitingQueue) {
	q.ShutDown()
	for item, shutdown := q.Get(); !shutdown; item, shutdown = q.Get() {
		q.Done(item)
	}
}

// The series are deleted only when the queue has been shut down, Get has reported that, and no item is being processed.
func TestQueueEnd(t *testing.T) {
	obs, reg := observertest.New(t, observertest.Upstream)
	q := newQueue(obs, "c")
	exist := func(when string, want bool) {
		t.Helper()
		if got := len(metricstest.Take(t, reg)) > 0; got != want {
			t.Errorf("%s: series exist: %t, want %t", when, got, want)
		}
	}
	for _, item := range []string{"a", "b", "c"} {
		q.Add(item)
	}
	_, _ = q.Get()
	_, _ = q.Get()
	exist("while workers run", true)
	q.ShutDown()
	exist("shut down", true)
	q.Done("a")
	_, _ = q.Get()
	q.Done("c")
	exist("b is processed, and no worker knows of the shutdown", true)
	if _, shutdown := q.Get(); !shutdown {
		t.Fatal("Get does not report the shutdown")
	}
	exist("b is processed, and a worker knows of the shutdown", true)
	q.Done("b")
	exist("after the end", false)

	late := func() {
		q.Add("late")
		q.AddAfter("late", time.Hour)
		q.AddRateLimited("late")
		q.Forget("late")
		q.Done("late")
		q.Dropped(queue.DroppedTerminal, 1)
		q.Dropped(queue.DroppedMaxRetries, 1)
		q.Dropped(queue.DroppedShutdown, 0)
	}
	late()
	if _, shutdown := q.Get(); !shutdown {
		t.Error("Get no longer reports the shutdown")
	}
	q.ShutDown()
	q.ShutDownWithDrain()
	exist("after late calls", false)

	successor := newQueue(obs, "c")
	before := metricstest.Take(t, reg)
	late()
	metricstest.Take(t, reg).Equal(t, before)
	finish(successor)
	exist("after the end of the successor", false)
}

// The series are not deleted while an item that was added again still has to be processed, even if Get has reported the
// shutdown.
func TestQueueEndAfterAnItemAddedAgain(t *testing.T) {
	obs, reg := observertest.New(t)
	q := newQueue(obs, "c")
	q.Add("a")
	_, _ = q.Get()
	q.Add("a")
	q.ShutDown()
	_, _ = q.Get() // reports the shutdown
	q.Done("a")    // ready again
	if s := metricstest.Take(t, reg); len(s) == 0 {
		t.Error("an item is ready, and the series are deleted")
	}
	finish(q)
	metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
}

// The series of a queue that becomes unreachable with items in it are deleted as well.
func TestUnreachableQueue(t *testing.T) {
	obs, reg := observertest.New(t, observertest.Upstream)
	newQueue(obs, "c").ShutDown()
	awaitNoSeries(t, reg)
}

// A queue is reachable as long as a goroutine waits in one of its methods.
func TestQueueWithWaitingGoroutines(t *testing.T) {
	for name, c := range map[string]struct {
		wait func(*queue.Queue[string])
		end  func(*queue.Queue[string])
	}{
		"Get": {
			func(q *queue.Queue[string]) { _, _ = q.Get() },
			func(q *queue.Queue[string]) { q.ShutDown() },
		},
		"ShutDownWithDrain": {
			func(q *queue.Queue[string]) { q.ShutDownWithDrain() },
			func(q *queue.Queue[string]) { q.Done("a"); q.ShutDown() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			obs, reg := observertest.New(t)
			q := newQueue(obs, "c")
			if name == "ShutDownWithDrain" {
				q.Add("a")
				_, _ = q.Get()
			}
			reference, returned := weak.Make(q), make(chan struct{})
			go func(q *queue.Queue[string]) {
				c.wait(q)
				close(returned)
			}(q)
			for range 5 {
				time.Sleep(time.Millisecond)
				runtime.GC()
			}
			if len(metricstest.Take(t, reg)) == 0 || reference.Value() == nil {
				t.Fatal("the queue has been garbage-collected")
			}
			c.end(reference.Value())
			<-returned
		})
	}
}

// awaitNoSeries waits for the garbage collection of queues or rate limiters that are unreachable.
func awaitNoSeries(t *testing.T, reg prometheus.Gatherer) {
	t.Helper()
	metricstest.Eventually(t, reg, "no series", func(s metricstest.Snapshot) bool {
		runtime.GC()
		return len(s) == 0
	})
}

// TestRemaining: a shutdown leaves items that are ready, that were added again while they were processed, and delayed ones.
func TestRemaining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		q, keep := newQueue(obs, "c"), newQueue(obs, "c")
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
		time.Sleep(30 * time.Minute) // b no longer becomes ready
		if n := q.Remaining(); n != 4 {
			t.Errorf("%d items remain, want 4", n)
		}
		q.Done("hangs")
		finish(q)
		if n := q.Remaining(); n != 2 {
			t.Errorf("%d items remain after the end, want 2", n)
		}
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{delayed: 0, oldest: 0})
		finish(keep)
		metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
	})
}

// TestDroppedAtShutdown covers S23: a program counts the remaining items when the last worker has returned. The count is
// reported as long as the program references the queue.
func TestDroppedAtShutdown(t *testing.T) {
	obs, reg := observertest.New(t)
	q := newQueue(obs, "c")
	q.AddAfter("a", time.Hour)
	q.AddAfter("b", time.Hour)
	q.Dropped(queue.DroppedTerminal, 3)
	q.Dropped(queue.DroppedMaxRetries, 0)
	q.Dropped(queue.DroppedMaxRetries, -1)
	q.Dropped("another reason", 1)
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{dropped("terminal"): 3, dropped("max_retries"): 0, dropped("shutdown"): 0})
	finish(q)
	metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
	q.Dropped(queue.DroppedShutdown, q.Remaining())
	q.Dropped(queue.DroppedShutdown, 1)
	q.Dropped(queue.DroppedTerminal, 1)
	for range 2 {
		runtime.GC()
		metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{dropped("terminal"): 0, dropped("max_retries"): 0, dropped("shutdown"): 3})
	}
	runtime.KeepAlive(q)
	awaitNoSeries(t, reg)
}

// An item that becomes due after ShutDownWithDrain remains, too.
func TestRemainingAfterDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		q := newQueue(obs, "c")
		q.Add("hangs")
		_, _ = q.Get()
		q.AddAfter("a", time.Second)
		go q.ShutDownWithDrain() // unlike ShutDown, it does not stop client-go's goroutine
		time.Sleep(time.Minute)
		if n := q.Remaining(); n != 1 {
			t.Errorf("%d items remain, want 1", n)
		}
		q.Done("hangs")
		q.ShutDown()
	})
}

// queueMethods return each method of a queue as a method value.
var queueMethods = map[string]func(q *queue.Queue[string]) any{
	"Add":               func(q *queue.Queue[string]) any { return q.Add },
	"AddAfter":          func(q *queue.Queue[string]) any { return q.AddAfter },
	"AddRateLimited":    func(q *queue.Queue[string]) any { return q.AddRateLimited },
	"Done":              func(q *queue.Queue[string]) any { return q.Done },
	"Dropped":           func(q *queue.Queue[string]) any { return q.Dropped },
	"Forget":            func(q *queue.Queue[string]) any { return q.Forget },
	"Get":               func(q *queue.Queue[string]) any { return q.Get },
	"Len":               func(q *queue.Queue[string]) any { return q.Len },
	"NumRequeues":       func(q *queue.Queue[string]) any { return q.NumRequeues },
	"Remaining":         func(q *queue.Queue[string]) any { return q.Remaining },
	"ShutDown":          func(q *queue.Queue[string]) any { return q.ShutDown },
	"ShutDownWithDrain": func(q *queue.Queue[string]) any { return q.ShutDownWithDrain },
	"ShuttingDown":      func(q *queue.Queue[string]) any { return q.ShuttingDown },
}

// TestQueueMethodValues: a method value keeps the queue reachable, and its series.
func TestQueueMethodValues(t *testing.T) {
	if n := reflect.TypeFor[*queue.Queue[string]]().NumMethod(); n != len(queueMethods) {
		t.Fatalf("a queue has %d methods, and %d are tested", n, len(queueMethods))
	}
	obs, reg := observertest.New(t)
	held := map[string]any{}
	for method, value := range queueMethods {
		held[method] = value(newQueue(obs, method))
	}
	for range 2 { // the first queue, if it were unreachable, would be collected no later than the second one
		newQueue(obs, "unreachable").Add("a")
		metricstest.Eventually(t, reg, "no series of the unreachable queue", func(s metricstest.Snapshot) bool {
			runtime.GC()
			_, exists := s["controller_queue_oldest_item_seconds{controller=unreachable}"]
			return !exists
		})
	}
	s := metricstest.Take(t, reg)
	for method := range held {
		if _, exists := s["controller_queue_oldest_item_seconds{controller="+method+"}"]; !exists {
			t.Errorf("%s does not keep the queue reachable", method)
		}
	}
	runtime.KeepAlive(held)
}
