package collectors

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
)

// Series of the controller c.
const (
	coalesced = "controller_queue_coalesced_total{controller=c}"
	delayed   = "controller_queue_delayed_items{controller=c}"
	oldest    = "controller_queue_oldest_item_seconds{controller=c}"
	backoffN  = "controller_backoff_seconds_count{controller=c}"
	retriesN  = "controller_item_retries_count{controller=c}"
)

func dropped(reason string) string {
	return "controller_dropped_total{controller=c,reason=" + reason + "}"
}

// controllerMetrics leaves the metrics of controllers, without the sums of histograms.
func controllerMetrics(s metricstest.Snapshot) metricstest.Snapshot {
	found := metricstest.Snapshot{}
	for name, value := range s {
		if strings.HasPrefix(name, "controller_") && !strings.Contains(name, "_sum") {
			found[name] = value
		}
	}
	return found
}

// A queue has all its series from the beginning, at 0.
func TestQueueSeriesAreThereAtOnce(t *testing.T) {
	obs, reg := newObserver(t)
	defer NewQueue(obs, "c", backoffs()).ShutDown()
	controllerMetrics(metricstest.Take(t, reg)).Equal(t, metricstest.Snapshot{
		coalesced: 0, delayed: 0, oldest: 0, backoffN: 0, retriesN: 0,
		dropped("max_retries"): 0, dropped("terminal"): 0, dropped("shutdown"): 0,
	})
}

// TestCoalescedAddsAreExact covers S20: of many adds at the same time, each is either worked on or coalesced, and the
// former are those that client-go counts as adds.
func TestCoalescedAddsAreExact(t *testing.T) {
	const adders, adds, workers = 100, 500, 4
	for name, order := range map[string]workqueue.Queue[string]{"default": nil, "own": &lifo{}} {
		obs, reg := newObserver(t, withUpstream)
		q := NewQueue(obs, "c", backoffs(), QueueOptions[string]{Order: order})
		_, keep := obs.joinQueue("c")
		var gets atomic.Int64
		var working, adding sync.WaitGroup
		for range workers {
			working.Go(func() {
				for item, shutdown := q.Get(); !shutdown; item, shutdown = q.Get() {
					gets.Add(1)
					q.Done(item)
				}
			})
		}
		for n := range adders {
			adding.Go(func() {
				for i := range adds {
					q.Add(names[(n*i)%20])
					runtime.Gosched()
				}
			})
		}
		adding.Wait()
		upstream := metricstest.Take(t, reg)["workqueue_adds_total"]
		q.ShutDown()
		for range 100 {
			q.Add("too late")
		}
		working.Wait()
		got := metricstest.Take(t, reg)[coalesced]
		if got != adders*adds-float64(gets.Load()) || got != adders*adds-upstream {
			t.Errorf("%s order: %d adds, %d items worked on, %v added says client-go, %v coalesced", name, adders*adds, gets.Load(), upstream, got)
		}
		if got < adds || gets.Load() < adds {
			t.Errorf("%s order: %v coalesced, %d worked on: not much happened", name, got, gets.Load())
		}
		keep()
	}
}

// TestOldestItem covers S7: the age of what a worker that hangs does not take, in all kinds of queues. A queue in which
// nothing has happened for long must not take its last event for the first of an item.
func TestOldestItem(t *testing.T) {
	for name, make := range map[string]func(obs *Observer) limitingQueue{
		"silent":    func(obs *Observer) limitingQueue { return NewQueue(obs, "c", backoffs()) },
		"reporting": func(obs *Observer) limitingQueue { return NewQueue(obs, "c", backoffs()) },
		"own order": func(obs *Observer) limitingQueue {
			return NewQueue(obs, "c", backoffs(), QueueOptions[string]{Order: &lifo{}})
		},
		"wrapped": func(obs *Observer) limitingQueue { return WrapQueue(obs, "c", plainQueue(nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := newObserver(t, func(o *Options) { o.UpstreamMetrics = name == "reporting" })
				q := make(obs)
				defer q.ShutDown()
				age := func(what string, want time.Duration) {
					t.Helper()
					synctest.Wait()
					if got := metricstest.Take(t, reg)[oldest]; got != want.Seconds() {
						t.Errorf("%s: %v s, want %v", what, got, want)
					}
				}
				get := func(want string) {
					t.Helper()
					if item, _ := q.Get(); item != want {
						t.Fatalf("got %q instead of %q", item, want)
					}
				}
				time.Sleep(time.Hour)
				age("nothing was ever added", 0)
				q.Add("hangs")
				get("hangs")
				time.Sleep(time.Hour)
				age("nothing is ready", 0)
				q.Add("hangs") // it is not ready until the worker is done with it
				age("what is processed is added again", 0)
				q.Add("a")
				age("new", 0)
				time.Sleep(time.Minute)
				age("after a minute", time.Minute)
				q.AddAfter("b", 2*time.Minute)
				time.Sleep(time.Minute)
				q.Add("a")
				age("a second add does not make it younger", 2*time.Minute)
				get("a")
				age("b waits for its time", 0)
				time.Sleep(3 * time.Minute)
				if name != "wrapped" {
					age("b has waited only as long as it was ready", 2*time.Minute)
				}
				get("b")
				q.Done("hangs")
				age("the worker is done: its item is ready again", 0)
				time.Sleep(time.Second)
				age("the item that was added again", time.Second)
			})
		})
	}
}

// Ages and delays are measured by the clock that is given.
func TestQueueClock(t *testing.T) {
	obs, reg := newObserver(t)
	clock := testingclock.NewFakeClock(time.Unix(0, 0))
	q := NewQueue(obs, "c", backoffs(), QueueOptions[string]{Clock: clock})
	defer q.ShutDown()
	q.Add("a")
	q.AddAfter("b", time.Hour)
	metricstest.Eventually(t, reg, "b waits", func(metricstest.Snapshot) bool { return clock.HasWaiters() })
	clock.Step(time.Minute)
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{oldest: 60, delayed: 1})
	clock.Step(time.Hour)
	metricstest.Eventually(t, reg, "b is ready", func(s metricstest.Snapshot) bool { return q.Len() == 2 && s[delayed] == 0 })
}

// Queues of one controller are reported as one.
func TestQueuesOfOneController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := newObserver(t, withUpstream)
		a, b := NewQueue(obs, "c", backoffs()), NewQueue(obs, "c", backoffs())
		a.Add("x")
		time.Sleep(time.Second)
		b.Add("x")
		b.Add("x")
		a.AddAfter("x", time.Hour)
		b.AddAfter("x", time.Hour)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{coalesced: 1, delayed: 2, oldest: 1, "workqueue_depth": 2, "workqueue_adds_total": 2})
		finish(b)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{coalesced: 1, delayed: 1, oldest: 1, "workqueue_depth": 1, "workqueue_adds_total": 2})
		finish(a)
		if s := metricstest.Take(t, reg); len(s) != 0 {
			t.Errorf("both have ended:\n%s", s)
		}
	})
}

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

// Items that cannot be keys of a map panic in a plain queue, after which it goes on.
func TestQueueSurvivesPanics(t *testing.T) {
	obs, reg := newObserver(t)
	q := NewQueue(obs, "c", workqueue.DefaultTypedControllerRateLimiter[any]())
	for _, call := range []func(any){q.Add, q.Done} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call([]int{})
		}()
	}
	q.Add("a")
	if item, _ := q.Get(); item != "a" {
		t.Errorf("got %v", item)
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{coalesced: 0, oldest: 0})
	q.ShutDown()
}

// TestQueueNames: what exceeds the cap is reported as one, and room is given back.
func TestQueueNames(t *testing.T) {
	obs, reg := newObserver(t, withUpstream)
	for range 2 {
		var queues []*Queue[string]
		for n := range maxControllers + 50 {
			queues = append(queues, NewQueue(obs, fmt.Sprint("queue-", n), backoffs()))
		}
		s := metricstest.Take(t, reg)
		if len(obs.queues.queues.Values()) != maxControllers+1 {
			t.Errorf("%d names have series", len(obs.queues.queues.Values()))
		}
		if _, ok := s["controller_queue_delayed_items{controller=other}"]; !ok {
			t.Error("nothing is reported for the others")
		}
		for _, q := range queues {
			finish(q)
		}
		if s := withoutOverflows(metricstest.Take(t, reg)); len(s) != 0 {
			t.Fatalf("after the end:\n%s", s)
		}
	}
}

// TestQueueUnderStress uses everything at the same time, for the race detector, and leaves nothing behind.
func TestQueueUnderStress(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	for name, make := range map[string]func(obs *Observer) *Queue[string]{
		"own": func(obs *Observer) *Queue[string] { return NewQueue(obs, "c", fast()) },
		"own order": func(obs *Observer) *Queue[string] {
			return NewQueue(obs, "c", fast(), QueueOptions[string]{Order: &lifo{}})
		},
		"wrapped": func(obs *Observer) *Queue[string] {
			return WrapQueue(obs, "c", workqueue.NewTypedRateLimitingQueue(fast()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			obs, reg := newObserver(t, withUpstream)
			q := make(obs)
			var adding, working, scraping sync.WaitGroup
			for range 4 {
				working.Go(func() {
					for item, shutdown := q.Get(); !shutdown; item, shutdown = q.Get() {
						var err error
						if time.Now().UnixNano()%3 == 0 {
							err = errTest
						}
						q.Retry(item, err, 3)
						q.Done(item)
					}
				})
			}
			for n := range 8 {
				adding.Go(func() {
					for i := range 2000 {
						item := names[(n+i)%50]
						switch i % 5 {
						case 0, 1:
							q.Add(item)
						case 2:
							q.AddAfter(item, time.Duration(i%7)*100*time.Microsecond)
						case 3:
							q.AddRateLimited(item)
						case 4:
							_, _, _ = q.Len(), q.NumRequeues(item), q.ShuttingDown()
						}
					}
				})
			}
			var stop atomic.Bool
			scraping.Go(func() {
				for !stop.Load() {
					s := metricstest.Take(t, reg)
					if s[delayed] < 0 || s[oldest] < 0 || s[oldest] > time.Hour.Seconds() {
						t.Errorf("%v delayed, the oldest %v s", s[delayed], s[oldest])
					}
				}
			})
			adding.Wait()
			// Without new items, every one that waits is ready some time, and every one that is ready is worked on.
			s := metricstest.Eventually(t, reg, "quiet", func(s metricstest.Snapshot) bool {
				return s[delayed] == 0 && s[oldest] == 0 && q.Len() == 0
			})
			if s[coalesced] == 0 {
				t.Error("nothing was coalesced")
			}
			stop.Store(true)
			scraping.Wait()
			q.ShutDown()
			working.Wait()
			if s := metricstest.Take(t, reg); len(s) != 0 {
				t.Errorf("after the end:\n%s", s)
			}
		})
	}
	if err := goleak.Find(ignore); err != nil {
		t.Error(err)
	}
}

func fast() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](10*time.Microsecond, time.Millisecond)
}

// A queue does not allocate while it is used, with client-go's metrics or without.
func TestQueueDoesNotAllocate(t *testing.T) {
	for _, reporting := range []bool{false, true} {
		obs, _ := newObserver(t, func(o *Options) { o.UpstreamMetrics = reporting })
		q := NewQueue(obs, "c", backoffs())
		least := math.Inf(1) // others may allocate at the same time
		for range 5 {
			least = min(least, testing.AllocsPerRun(100, func() {
				for _, name := range names[:10] {
					q.Add(name)
					q.Add(name)
				}
				for range 10 {
					item, _ := q.Get()
					q.Add(item)
					q.Add(item)
					q.Done(item)
					item, _ = q.Get()
					q.Forget(item)
					q.Done(item)
				}
			}))
		}
		if least != 0 {
			t.Errorf("reporting %v: %v allocations", reporting, least)
		}
		q.ShutDown()
	}
}
