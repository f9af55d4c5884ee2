package collectors

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

type limitingQueue = workqueue.TypedRateLimitingInterface[string]

// backoffs is a limiter of both kinds: by item, and over all of them.
func backoffs() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second),
		&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(10, 3)},
	)
}

// lifo is an order of a user's.
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

// TestQueuesBehaveAsPlainOnes does the same random things to a plain queue and to decorated ones, at the same times: all
// answers must be the same, in the same order.
func TestQueuesBehaveAsPlainOnes(t *testing.T) {
	for name, c := range map[string]struct {
		order func() workqueue.Queue[string]
		make  func(obs *Observer, order workqueue.Queue[string]) limitingQueue
	}{
		"NewQueue": {
			func() workqueue.Queue[string] { return nil },
			func(obs *Observer, _ workqueue.Queue[string]) limitingQueue { return NewQueue(obs, "c", backoffs()) },
		},
		"NewQueue with metrics": {
			func() workqueue.Queue[string] { return nil },
			func(obs *Observer, _ workqueue.Queue[string]) limitingQueue {
				return NewQueue(obs, "c", backoffs(), QueueOptions[string]{MetricsProvider: obs.WorkqueueMetricsProvider()})
			},
		},
		"NewQueue with an order": {
			func() workqueue.Queue[string] { return &lifo{} },
			func(obs *Observer, order workqueue.Queue[string]) limitingQueue {
				return NewQueue(obs, "c", backoffs(), QueueOptions[string]{Order: order})
			},
		},
		"WrapQueue": {
			func() workqueue.Queue[string] { return nil },
			func(obs *Observer, order workqueue.Queue[string]) limitingQueue {
				return WrapQueue(obs, "c", plainQueue(order))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			runs, answers := 60, 0
			if testing.Short() {
				runs = 20
			}
			for seed := range uint64(runs) {
				var want, got []string
				synctest.Test(t, func(*testing.T) { want = play(seed, plainQueue(c.order()), nil) })
				synctest.Test(t, func(t *testing.T) {
					obs, reg := newObserver(t)
					got = play(seed, c.make(obs, c.order()), nil)
					if s := metricstest.Take(t, reg); len(s) != 0 {
						t.Errorf("seed %d: the queue has ended, and there are still:\n%s", seed, s)
					}
				})
				if at := firstDifference(got, want); at >= 0 {
					t.Fatalf("seed %d, answer %d of %d:\n got %q\nwant %q", seed, at, len(want), window(got, at), window(want, at))
				}
				answers += len(want)
			}
			if answers < 60*runs {
				t.Errorf("only %d answers in %d runs: not much was compared", answers, runs)
			}
		})
	}
}

// TestQueueSignals compares what is reported with a model, after each of many random steps (S7, S8, S20).
func TestQueueSignals(t *testing.T) {
	for name, c := range map[string]struct {
		make func(obs *Observer) limitingQueue
		// outside tells that what AddRateLimited adds is not seen, and what AddAfter adds only while it waits.
		outside bool
	}{
		"NewQueue": {func(obs *Observer) limitingQueue { return NewQueue(obs, "c", backoffs()) }, false},
		"NewQueue with metrics": {func(obs *Observer) limitingQueue {
			return NewQueue(obs, "c", backoffs(), QueueOptions[string]{MetricsProvider: obs.WorkqueueMetricsProvider()})
		}, false},
		"NewQueue with an order": {func(obs *Observer) limitingQueue {
			return NewQueue(obs, "c", backoffs(), QueueOptions[string]{Order: &lifo{}})
		}, false},
		"WrapQueue": {func(obs *Observer) limitingQueue { return WrapQueue(obs, "c", plainQueue(nil)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			var seen [3]int
			for seed := range uint64(10) {
				synctest.Test(t, func(t *testing.T) {
					obs, reg := newObserver(t)
					q := c.make(obs)
					m := &queueModel{
						limitingQueue: q, limiter: backoffs(), outside: c.outside,
						dirty: map[string]bool{}, processing: map[string]bool{}, since: map[string]time.Time{}, until: map[string]time.Time{},
					}
					_, keep := obs.joinQueue("c")
					defer keep()
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
				t.Errorf("coalesced, delayed and oldest items were there %v times: not much was compared", seen)
			}
		})
	}
}

// play does random things to a queue and returns all answers. It ends with the queue shut down, empty and left by all
// workers. After each step that changes something it calls check, if that is given, when nothing moves any more.
func play(seed uint64, q limitingQueue, check func(step string)) (answers []string) {
	rnd := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // chance is for variety here
	say := func(format string, values ...any) { answers = append(answers, fmt.Sprintf(format, values...)) }
	did := func(format string, values ...any) {
		synctest.Wait()
		if check != nil {
			check(fmt.Sprintf(format, values...))
		}
	}
	type gotten struct {
		item     string
		shutdown bool
	}
	var (
		processed []string
		waiting   []chan gotten // workers that wait for an item, in the order in which they began to
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
		ch := make(chan gotten, 1)
		waiting = append(waiting, ch)
		go func() {
			item, shutdown := q.Get()
			ch <- gotten{item, shutdown}
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
	var drained chan struct{} // client-go wakes only one of several that wait for the end of the work
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
		time.Sleep(time.Microsecond) // no two delays are over at the same moment
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
			if len(waiting) == 0 { // several would race for what becomes ready
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
	// The end: what is ready is processed, what waits is lost.
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
	get() // a worker is told
	q.ShutDown()
	if drained != nil {
		<-drained
	}
	say("end: len %d, shutting down %v", q.Len(), q.ShuttingDown())
	synctest.Wait()
	return answers
}
