package collectors

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
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
