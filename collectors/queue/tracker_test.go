package queue

import (
	"container/heap"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// TestTracker compares the metrics after each call around a queue, for queues of both kinds.
func TestTracker(t *testing.T) {
	for _, merges := range []bool{false, true} {
		t.Run(fmt.Sprintf("merges=%v", merges), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, registry := observertest.New(t)
				tracker := NewTracker[string](obs, "c", TrackerOptions{Merges: merges})
				limiter := tracker.RateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Hour))
				check := func(step string, coalesced, delayed float64, oldest time.Duration) {
					t.Helper()
					got := metricstest.Take(t, registry)
					for series, want := range map[string]float64{
						"controller_queue_coalesced_total": coalesced, "controller_queue_delayed_items": delayed,
						"controller_queue_oldest_item_seconds": oldest.Seconds(),
					} {
						if v := got[series+"{controller=c}"]; v != want {
							t.Errorf("%s: %s is %v, want %v", step, series, v, want)
						}
					}
				}
				tracker.Add("a", 0)
				tracker.Add("a", 0)
				tracker.Add("b", 10*time.Second)
				tracker.Add("b", 20*time.Second) // the earlier time wins
				limiter.When("c")                // 1 s
				check("added", 1, 2, 0)
				time.Sleep(3 * time.Second)
				check("a delay is over", 1, 1, 3*time.Second)
				tracker.Get("a")
				check("the oldest item is taken", 1, 1, 2*time.Second)

				tracker.Add("c", 4*time.Second) // it is ready
				if merges {
					check("a ready item is delayed", 2, 1, 2*time.Second)
				} else {
					check("a ready item is delayed", 1, 2, 2*time.Second)
				}
				tracker.Get("c")
				time.Sleep(5 * time.Second)
				if merges {
					check("taken once", 2, 1, 0)
				} else {
					check("taken once", 1, 1, time.Second)
					tracker.Get("c")
				}
				tracker.Add("b", 0) // it is delayed until 10 s
				time.Sleep(time.Second)
				tracker.Get("b")
				time.Sleep(2 * time.Second) // 11 s
				if merges {
					check("an add ends a delay", 2, 0, 0)
				} else {
					check("an add does not end a delay", 1, 0, time.Second)
				}

				if _, found := metricstest.Take(t, registry)["controller_running_workers{controller=c}"]; found {
					t.Error("running workers are reported without a call of Wait")
				}

				tracker.Add("d", time.Minute)
				tracker.Get("d") // the queue has another clock
				tracker.End()
				tracker.End()
				tracker.Add("late", 0)
				limiter.When("late")
				metricstest.Take(t, registry).Equal(t, metricstest.Snapshot{})
			})
		})
	}
}

// An item that is ready when its delay ends is handed out once, even if nothing reads the metrics between the end and Get.
func TestTrackerDelayOfAReadyItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, registry := observertest.New(t)
		tracker := NewTracker[string](obs, "c", TrackerOptions{})
		defer tracker.End()
		tracker.Add("a", 0)
		tracker.Add("a", time.Second)
		time.Sleep(2 * time.Second)
		tracker.Get("a")
		time.Sleep(time.Second)
		metricstest.Take(t, registry).Contains(t, metricstest.Snapshot{
			"controller_queue_delayed_items{controller=c}": 0, "controller_queue_oldest_item_seconds{controller=c}": 0,
		})
	})
}

// An item with an endless delay does not hide the age of others.
func TestTrackerEndlessDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, registry := observertest.New(t)
		tracker := NewTracker[string](obs, "c", TrackerOptions{})
		defer tracker.End()
		time.Sleep(time.Second)
		tracker.Add("never", math.MaxInt64)
		tracker.Add("b", 0)
		time.Sleep(10 * time.Second)
		metricstest.Take(t, registry).Contains(t, metricstest.Snapshot{
			"controller_queue_delayed_items{controller=c}": 1, "controller_queue_oldest_item_seconds{controller=c}": 10,
		})
	})
}

// TestTrackerWorkers covers S38: a worker is running while it waits and while it processes an item.
func TestTrackerWorkers(t *testing.T) {
	obs, registry := observertest.New(t)
	tracker := NewTracker[string](obs, "c", TrackerOptions{})
	defer tracker.End()
	for _, step := range []struct {
		name string
		do   func()
		want float64
	}{
		{"one waits", tracker.Wait, 1},
		{"two wait", tracker.Wait, 2},
		{"one has an item", func() { tracker.Get("a") }, 2},
		{"it is done, and the worker does not return", func() { tracker.Done("a") }, 1},
		{"it returns", tracker.Wait, 2},
	} {
		step.do()
		if got := metricstest.Take(t, registry)["controller_running_workers{controller=c}"]; got != step.want {
			t.Errorf("%s: %v running workers, want %v", step.name, got, step.want)
		}
	}
}

// TestTrackerForgets: an item that is repeatedly added with a long delay and handed out earlier does not take up memory.
func TestTrackerForgets(t *testing.T) {
	obs, _ := observertest.New(t)
	tracker := NewTracker[string](obs, "c", TrackerOptions{Merges: true})
	defer tracker.End()
	for n := range 10_000 {
		item := fmt.Sprint(n % 10)
		tracker.Add(item, time.Hour)
		tracker.Add(item, 0)
		tracker.Get(item)
	}
	if n := len(tracker.order); n > 2*firstSlots {
		t.Errorf("%d entries remain", n)
	}
	for n := range 10_000 { // each delay ends before the one that it replaces
		tracker.Add(fmt.Sprint(n%10), time.Hour-time.Duration(n)*time.Millisecond)
		if n, most := len(tracker.order), 2*len(tracker.due)+firstSlots; n > most {
			t.Fatalf("%d entries for %d items, want at most %d", n, len(tracker.due), most)
		}
	}
}

// TestTrackerKeepsNothing: an item that is no longer delayed can be garbage-collected.
func TestTrackerKeepsNothing(t *testing.T) {
	var h dueHeap[string]
	heap.Push(&h, slot[string]{"a", 1})
	heap.Pop(&h)
	if s := h[:1][0]; s != (slot[string]{}) {
		t.Errorf("%v is kept", s)
	}
}

// TestTrackerFinds items by name, and since when they have been ready.
func TestTrackerFinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		tracker := NewTracker[string](obs, "c", TrackerOptions{})
		defer tracker.End()
		tracker.Add("ready", 0)
		tracker.Add("delayed", 4*time.Second)
		time.Sleep(3 * time.Second)
		type found struct {
			ready              time.Duration
			isReady, isDelayed bool
		}
		for name, want := range map[string]found{"ready": {3 * time.Second, true, false}, "delayed": {isDelayed: true}, "other": {}} {
			var got found
			if got.ready, got.isReady, got.isDelayed = tracker.find(name); got != want {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
		time.Sleep(2 * time.Second)
		if ready, isReady, isDelayed := tracker.find("delayed"); ready != time.Second || !isReady || isDelayed {
			t.Errorf("a second after its delay: %v %t %t", ready, isReady, isDelayed)
		}
	})
}
