package queue_test

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// Items that are not comparable panic in a plain queue, which remains usable.
func TestQueueSurvivesPanics(t *testing.T) {
	obs, reg := observertest.New(t)
	q := queue.NewTypedRateLimitingQueue(obs, "c", workqueue.DefaultTypedControllerRateLimiter[any](), queue.Options[any]{})
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

// TestQueueUnderStress calls all methods concurrently, for the race detector. Neither series nor goroutines remain.
func TestQueueUnderStress(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	for name, make := range map[string]func(obs *collectors.Observer) *queue.Queue[string]{
		"default": func(obs *collectors.Observer) *queue.Queue[string] {
			return queue.NewTypedRateLimitingQueue(obs, "c", fast(), queue.Options[string]{})
		},
		"custom order": func(obs *collectors.Observer) *queue.Queue[string] {
			return queue.NewTypedRateLimitingQueue(obs, "c", fast(), queue.Options[string]{Order: &lifo{}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			obs, reg := observertest.New(t, observertest.Upstream)
			q := make(obs)
			var adding, working, scraping sync.WaitGroup
			for range 4 {
				working.Go(func() {
					for item, shutdown := q.Get(); !shutdown; item, shutdown = q.Get() {
						switch {
						case time.Now().UnixNano()%3 != 0:
							q.Forget(item)
						case q.NumRequeues(item) < 3:
							q.AddRateLimited(item)
						default:
							q.Dropped(queue.DroppedMaxRetries, 1)
							q.Forget(item)
						}
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
			s := metricstest.Eventually(t, reg, "quiet", func(s metricstest.Snapshot) bool {
				return s[delayed] == 0 && s[oldest] == 0 && q.Len() == 0
			})
			if s[coalesced] == 0 {
				t.Error("no add was coalesced")
			}
			stop.Store(true)
			scraping.Wait()
			q.ShutDown()
			working.Wait()
			metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
		})
	}
	leaktest.None(t, ignore)
}

func fast() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](10*time.Microsecond, time.Millisecond)
}

// A queue does not allocate in use, with or without client-go's metrics.
func TestQueueDoesNotAllocate(t *testing.T) {
	for _, reporting := range []bool{false, true} {
		obs, _ := observertest.New(t, func(o *collectors.Options) { o.UpstreamMetrics = reporting })
		q := newQueue(obs, "c")
		least := math.Inf(1) // other goroutines may allocate
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
