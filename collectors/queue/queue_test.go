package queue_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// Series of the controller c.
const (
	coalesced = "controller_queue_coalesced_total{controller=c}"
	delayed   = "controller_queue_delayed_items{controller=c}"
	oldest    = "controller_queue_oldest_item_seconds{controller=c}"
	running   = "controller_running_workers{controller=c}"
	backoffN  = "controller_backoff_seconds_count{controller=c}"
	retriesN  = "controller_item_retries_count{controller=c}"
)

func dropped(reason string) string {
	return "controller_dropped_total{controller=c,reason=" + reason + "}"
}

// controllerMetrics returns the metrics of controllers, without the sums of histograms.
func controllerMetrics(s metricstest.Snapshot) metricstest.Snapshot {
	found := metricstest.Snapshot{}
	for name, value := range s {
		if strings.HasPrefix(name, "controller_") && !strings.Contains(name, "_sum") {
			found[name] = value
		}
	}
	return found
}

// All series of a queue exist from the start, at 0.
func TestSeriesOfANewQueue(t *testing.T) {
	obs, reg := observertest.New(t)
	defer newQueue(obs, "c").ShutDown()
	controllerMetrics(metricstest.Take(t, reg)).Equal(t, metricstest.Snapshot{
		coalesced: 0, delayed: 0, oldest: 0, running: 0, backoffN: 0, retriesN: 0, retriesMax: 0,
		dropped("max_retries"): 0, dropped("terminal"): 0, dropped("shutdown"): 0,
	})
}

// TestCoalescedAddsAreExact covers S20: each of many concurrent adds is either processed or coalesced, and the former are
// those that client-go counts as adds.
func TestCoalescedAddsAreExact(t *testing.T) {
	const adders, adds, workers = 100, 500, 4
	for name, order := range map[string]workqueue.Queue[string]{"default": nil, "custom": &lifo{}} {
		obs, reg := observertest.New(t, observertest.Upstream)
		q := queue.NewTypedRateLimitingQueue(obs, "c", backoffs(), queue.Options[string]{Order: order})
		keep := newQueue(obs, "c") // the series exist until it ends
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
			t.Errorf("%s order: %d adds, %d items processed, %v adds counted by client-go, %v coalesced", name, adders*adds, gets.Load(), upstream, got)
		}
		if got == 0 { // how many depends on the scheduler
			t.Errorf("%s order: no add was coalesced: nothing to compare", name)
		}
		finish(keep)
	}
}

// TestOldestItem covers S7: the age of an item while all workers hang, in all kinds of queues. An idle queue must not use
// its last reading of the clock as the time of the next add.
func TestOldestItem(t *testing.T) {
	for name, make := range map[string]func(obs *collectors.Observer) limitingQueue{
		"silent":    func(obs *collectors.Observer) limitingQueue { return newQueue(obs, "c") },
		"reporting": func(obs *collectors.Observer) limitingQueue { return newQueue(obs, "c") },
		"custom order": func(obs *collectors.Observer) limitingQueue {
			return queue.NewTypedRateLimitingQueue(obs, "c", backoffs(), queue.Options[string]{Order: &lifo{}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t, func(o *collectors.Options) { o.UpstreamMetrics = name == "reporting" })
				if name == "silent" { // a queue without client-go's own metrics does not read the clock in Add
					reg.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: catalog.UpstreamQueueDepth.Name})) // of other code
				}
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
				age("empty", 0)
				q.Add("hangs")
				get("hangs")
				time.Sleep(time.Hour)
				age("nothing is ready", 0)
				q.Add("hangs") // not ready before Done
				age("an item that is processed is added again", 0)
				q.Add("a")
				age("new", 0)
				time.Sleep(time.Minute)
				age("after a minute", time.Minute)
				q.AddAfter("b", 2*time.Minute)
				time.Sleep(time.Minute)
				q.Add("a")
				age("a second add does not make it younger", 2*time.Minute)
				get("a")
				age("b is delayed", 0)
				time.Sleep(3 * time.Minute)
				age("b counts from the end of its delay", 2*time.Minute)
				get("b")
				q.Done("hangs")
				age("the item is ready again after Done", 0)
				time.Sleep(time.Second)
				age("the item that was added again", time.Second)
			})
		})
	}
}

// Ages and delays are measured with Options.Clock.
func TestQueueClock(t *testing.T) {
	obs, reg := observertest.New(t)
	clock := testingclock.NewFakeClock(time.Unix(0, 0))
	q := queue.NewTypedRateLimitingQueue(obs, "c", backoffs(), queue.Options[string]{Clock: clock})
	defer q.ShutDown()
	q.Add("a")
	q.AddAfter("b", time.Hour)
	metricstest.Eventually(t, reg, "b is delayed", func(metricstest.Snapshot) bool { return clock.HasWaiters() })
	clock.Step(time.Minute)
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{oldest: 60, delayed: 1})
	clock.Step(time.Hour)
	metricstest.Eventually(t, reg, "b is ready", func(s metricstest.Snapshot) bool { return q.Len() == 2 && s[delayed] == 0 })
}

// Queues of one controller are reported together.
func TestQueuesOfOneController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t, observertest.Upstream)
		a, b := newQueue(obs, "c"), newQueue(obs, "c")
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
		metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
	})
}

// TestQueueNames: names beyond the limit are reported as "other", and names of queues that have ended make room.
func TestQueueNames(t *testing.T) {
	const limit = 20
	obs, reg := observertest.New(t, observertest.Upstream, func(o *collectors.Options) { o.Limits.Controllers = limit })
	for range 2 {
		var queues []*queue.Queue[string]
		for n := range limit + 5 {
			queues = append(queues, newQueue(obs, fmt.Sprint("queue-", n)))
		}
		s := metricstest.Take(t, reg)
		if n := len(s.Family("controller_queue_delayed_items")); n != limit+1 {
			t.Errorf("%d names have series, want %d and other", n, limit)
		}
		if _, ok := s["controller_queue_delayed_items{controller=other}"]; !ok {
			t.Error("the series other is missing")
		}
		for _, q := range queues {
			finish(q)
		}
		s = metricstest.Take(t, reg)
		if overflows := s.Family("k8s_informer_label_overflow_total"); len(s) != len(overflows) || len(overflows) != 1 {
			t.Fatalf("after the end:\n%s", s)
		}
	}
}

func check(t *testing.T, s, want metricstest.Snapshot) {
	t.Helper()
	s.Contains(t, want)
}
