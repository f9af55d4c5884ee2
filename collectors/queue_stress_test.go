package collectors

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

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
