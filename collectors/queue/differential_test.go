package queue_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// newQueue returns a queue with backoffs and the default options.
func newQueue(obs *collectors.Observer, name string) *queue.Queue[string] {
	return queue.NewTypedRateLimitingQueue(obs, name, backoffs(), queue.Options[string]{})
}

type limitingQueue = workqueue.TypedRateLimitingInterface[string]

// backoffs is a limiter of both kinds: per item, and for all items.
func backoffs() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second),
		&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(10, 3)},
	)
}

// lifo is a custom order.
type lifo struct{ items []string }

func (l *lifo) Touch(string)     {}
func (l *lifo) Push(item string) { l.items = append(l.items, item) }
func (l *lifo) Len() int         { return len(l.items) }
func (l *lifo) Pop() string {
	last := l.items[len(l.items)-1]
	l.items = l.items[:len(l.items)-1]
	return last
}

func plainQueue(order workqueue.Queue[string]) limitingQueue {
	return workqueue.NewTypedRateLimitingQueueWithConfig(backoffs(), workqueue.TypedRateLimitingQueueConfig[string]{
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{
			Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: order}),
		}),
	})
}

// TestQueueBehavesLikeClientGo makes the same random calls to a plain queue and to observed ones, at the same times: all
// results must be the same, in the same order.
func TestQueueBehavesLikeClientGo(t *testing.T) {
	for name, c := range map[string]struct {
		order func() workqueue.Queue[string]
		make  func(obs *collectors.Observer, order workqueue.Queue[string]) limitingQueue
	}{
		"default": {
			func() workqueue.Queue[string] { return nil },
			func(obs *collectors.Observer, _ workqueue.Queue[string]) limitingQueue { return newQueue(obs, "c") },
		},
		"upstream metrics": {
			func() workqueue.Queue[string] { return nil },
			func(obs *collectors.Observer, _ workqueue.Queue[string]) limitingQueue {
				// The Observer's own, even if another test has set the provider of the process.
				core.Of(obs).UpstreamMetrics = true
				return newQueue(obs, "c")
			},
		},
		"custom order": {
			func() workqueue.Queue[string] { return &lifo{} },
			func(obs *collectors.Observer, order workqueue.Queue[string]) limitingQueue {
				return queue.NewTypedRateLimitingQueue(obs, "c", backoffs(), queue.Options[string]{Order: order})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			runs, results := 60, 0
			if testing.Short() {
				runs = 20
			}
			for seed := range uint64(runs) {
				var want, got []string
				synctest.Test(t, func(*testing.T) { want = play(seed, plainQueue(c.order()), nil) })
				synctest.Test(t, func(t *testing.T) {
					obs, reg := observertest.New(t)
					got = play(seed, c.make(obs, c.order()), nil)
					if s := metricstest.Take(t, reg); len(s) != 0 {
						t.Errorf("seed %d: series of a queue that has ended:\n%s", seed, s)
					}
				})
				if at := firstDifference(got, want); at >= 0 {
					t.Fatalf("seed %d, result %d of %d:\n got %q\nwant %q", seed, at, len(want), window(got, at), window(want, at))
				}
				results += len(want)
			}
			if results < 60*runs {
				t.Errorf("%d results in %d runs: not enough to compare", results, runs)
			}
		})
	}
}

// firstDifference returns the index of the first difference, -1 if there is none.
func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// window returns the results around an index.
func window(results []string, at int) []string {
	return results[min(max(at-2, 0), len(results)):min(at+3, len(results))]
}

// TestQueueSignals compares the metrics with a model, after each of many random calls (S7, S8, S20, S38).
func TestQueueSignals(t *testing.T) {
	for name, make := range map[string]func(obs *collectors.Observer) limitingQueue{
		"default": func(obs *collectors.Observer) limitingQueue { return newQueue(obs, "c") },
		"upstream metrics": func(obs *collectors.Observer) limitingQueue {
			return queue.NewTypedRateLimitingQueue(obs, "c", backoffs(), queue.Options[string]{MetricsProvider: queue.NewMetricsProvider(obs)})
		},
		"custom order": func(obs *collectors.Observer) limitingQueue {
			return queue.NewTypedRateLimitingQueue(obs, "c", backoffs(), queue.Options[string]{Order: &lifo{}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var seen [4]int
			for seed := range uint64(10) {
				synctest.Test(t, func(t *testing.T) {
					obs, reg := observertest.New(t)
					m := &queueModel{
						limitingQueue: make(obs), limiter: backoffs(),
						dirty: map[string]bool{}, processing: map[string]bool{}, since: map[string]time.Time{}, until: map[string]time.Time{},
					}
					keep := newQueue(obs, "c") // the series exist until it ends
					defer finish(keep)
					play(seed, m, func(step string) {
						got := metricstest.Take(t, reg)
						for i, want := range m.signals() {
							if v, ok := got[want.name]; !ok || v != want.value {
								t.Fatalf("seed %d, after %s: %s is %v, want %v", seed, step, want.name, v, want.value)
							}
							if want.value > 0 {
								seen[i]++
							}
						}
					})
				})
			}
			if slices.Min(seen[:]) < 100 {
				t.Errorf("coalesced, delayed and oldest items and running workers were seen %v times: not enough to compare", seen)
			}
		})
	}
}

// play makes random calls to a queue and returns all results. At the end, the queue is shut down and empty, and all workers
// have returned. After each call that changes something, when all goroutines are idle, it calls check, unless that is nil.
func play(seed uint64, q limitingQueue, check func(step string)) (results []string) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	say := func(format string, values ...any) { results = append(results, fmt.Sprintf(format, values...)) }
	did := func(format string, values ...any) {
		synctest.Wait()
		if check != nil {
			check(fmt.Sprintf(format, values...))
		}
	}
	type result struct {
		item     string
		shutdown bool
	}
	var (
		processed []string
		waiting   []chan result // workers in Get, in the order of their calls
	)
	collect := func() {
		for i := 0; i < len(waiting); {
			select {
			case g := <-waiting[i]:
				waiting = slices.Delete(waiting, i, i+1)
				say("worker %d got %q %v", i, g.item, g.shutdown)
				if !g.shutdown {
					processed = append(processed, g.item)
				}
			default:
				i++
			}
		}
	}
	get := func() {
		ch := make(chan result, 1)
		waiting = append(waiting, ch)
		go func() {
			item, shutdown := q.Get()
			ch <- result{item, shutdown}
		}()
		did("Get")
		collect()
	}
	done := func() {
		i := rnd.IntN(len(processed))
		item := processed[i]
		processed = slices.Delete(processed, i, i+1)
		q.Done(item)
		did("Done %s", item)
		collect()
	}
	var drained chan struct{} // client-go wakes only one of several calls of ShutDownWithDrain
	shutDown := func() {
		if rnd.IntN(3) == 0 || drained != nil {
			q.ShutDown()
			did("ShutDown")
		} else {
			ended := make(chan struct{})
			drained = ended
			go func() { q.ShutDownWithDrain(); close(ended) }()
			did("ShutDownWithDrain")
		}
		collect()
	}
	steps := 200 + rnd.IntN(200)
	for step := range steps {
		time.Sleep(time.Microsecond) // no two delays end at the same time
		item := string(rune('a' + rnd.IntN(6)))
		switch n := rnd.IntN(100); {
		case n < 25:
			q.Add(item)
			did("Add %s", item)
		case n < 35:
			d := []time.Duration{-time.Second, 0, time.Millisecond, 7 * time.Millisecond, time.Second, 20 * time.Second}[rnd.IntN(6)]
			q.AddAfter(item, d)
			did("AddAfter %s %v", item, d)
		case n < 45:
			q.AddRateLimited(item)
			did("AddRateLimited %s", item)
		case n < 50:
			say("requeues %d", q.NumRequeues(item))
			q.Forget(item)
			did("Forget %s", item)
		case n < 55:
			say("len %d, shutting down %v", q.Len(), q.ShuttingDown())
		case n < 75:
			if len(waiting) == 0 { // several would race for the next item
				get()
			}
		case n < 90:
			if len(processed) > 0 {
				done()
			}
		case n < 98:
			time.Sleep([]time.Duration{time.Microsecond, 3 * time.Millisecond, 100 * time.Millisecond, 30 * time.Second}[rnd.IntN(4)])
			did("Sleep")
		default:
			if step > steps*9/10 {
				shutDown()
			}
		}
		collect()
		select {
		case <-drained:
			say("drained")
		default:
		}
	}
	// The end: ready items are processed, delayed items are lost.
	shutDown()
	for len(processed) > 0 || q.Len() > 0 || len(waiting) > 0 {
		if q.Len() > 0 {
			get()
		}
		if len(processed) > 0 {
			done()
		}
		collect()
	}
	get() // reports the shutdown
	q.ShutDown()
	if drained != nil {
		<-drained
	}
	say("end: len %d, shutting down %v", q.Len(), q.ShuttingDown())
	synctest.Wait()
	return results
}
