package controllerruntime_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// TestRateLimiterInThePriorityQueue: controller-runtime's queue calls the rate limiter on its own goroutine. The backoff of each
// retry is reported, and the retries of an item when it is forgotten. Priorities are kept.
func TestRateLimiterInThePriorityQueue(t *testing.T) {
	registry := prometheus.NewRegistry()
	obs, err := collectors.New(registry, collectors.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	inner := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, time.Second)
	q := priorityqueue.New("test", func(o *priorityqueue.Opts[string]) {
		o.RateLimiter = queue.NewTypedRateLimiter(obs, "test", inner)
	})
	defer q.ShutDown()
	q.Add("a")
	for range 3 {
		item, priority, _ := q.GetWithPriority()
		q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, Priority: new(priority + 1)}, item)
		q.Done(item)
	}
	item, priority, _ := q.GetWithPriority()
	q.Forget(item)
	q.Done(item)
	if priority != 3 {
		t.Errorf("the priority is %d, want 3", priority)
	}
	got := metricstest.Gather(t, registry)
	for name, want := range map[string]struct {
		count float64
		sum   float64
	}{
		"controller_backoff_seconds": {3, .005 + .01 + .02},
		"controller_item_retries":    {1, 3},
	} {
		count, sum := got.Sum(name+"_count"), got.Sum(name+"_sum")
		if diff := sum - want.sum; count != want.count || diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s: %v observations with the sum %v, want %v", name, count, sum, want)
		}
	}
}

// TestUpstreamMetricsAreControllerRuntimes: controller-runtime has registered workqueue_* in its registry, with other labels. An
// Observer with UpstreamMetrics does not replace them.
func TestUpstreamMetricsAreControllerRuntimes(t *testing.T) {
	obs, err := collectors.New(metrics.Registry, collectors.Options{Name: "upstream-metrics", UpstreamMetrics: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { metrics.Registry.Unregister(obs) })
	q := queue.NewTypedRateLimitingQueue(obs, "reports-to-controller-runtime", workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
	defer q.ShutDown()
	q.Add("a")
	if n := metricstest.Gather(t, metrics.Registry).Sum("workqueue_adds_total", "name", "reports-to-controller-runtime"); n != 1 {
		t.Errorf("controller-runtime reports %v adds, want 1", n)
	}
}

// queueOf returns the queue of a controller of a plain or decorated manager.
func queueOf(t *testing.T, registry *prometheus.Registry, options controller.Options) workqueue.TypedRateLimitingInterface[ctrl.Request] {
	t.Helper()
	mgr, err := ctrl.NewManager(unreachable(), quiet(ctrl.Options{}))
	if registry != nil {
		mgr, err = controllerruntime.NewManager(unreachable(), quiet(ctrl.Options{}), controllerruntime.Options{Name: "test", Registerer: registry})
	}
	if err != nil {
		t.Fatal(err)
	}
	f, ok := controllerruntime.FieldsOf[ctrl.Request](newController(t, mgr, options))
	if !ok {
		t.Fatal("the controller does not have the expected fields")
	}
	return f.NewQueue(f.Name, f.Limiter)
}

// options are the options of controllers with both kinds of queues.
var options = map[string]controller.Options{
	"priority queue": {}, "no priority queue": {UsePriorityQueue: new(bool), RateLimiter: exponential()},
}

func exponential() workqueue.TypedRateLimiter[ctrl.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](5*time.Millisecond, 1000*time.Second)
}

func requestFor(name string) (r ctrl.Request) {
	r.Name = name
	return r
}

// TestQueue: coalesced adds, delayed items, the age of the oldest item, and running workers (S38) are reported for the queue
// that controller-runtime creates.
func TestQueue(t *testing.T) {
	for name, o := range options {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry := prometheus.NewPedanticRegistry()
				q := queueOf(t, registry, o)
				check := func(step string, coalesced, delayed, oldest float64) {
					t.Helper()
					synctest.Wait()
					got := metricstest.Gather(t, registry)
					for metric, want := range map[string]float64{
						"controller_queue_coalesced_total": coalesced, "controller_queue_delayed_items": delayed, "controller_queue_oldest_item_seconds": oldest,
					} {
						if v := got.Sum(metric, "controller", "test"); v != want {
							t.Errorf("%s: %s is %v, want %v", step, metric, v, want)
						}
					}
				}
				q.Add(requestFor("a"))
				q.Add(requestFor("a"))
				if pq, ok := q.(priorityqueue.PriorityQueue[ctrl.Request]); ok {
					pq.AddWithOpts(priorityqueue.AddOpts{After: 10 * time.Second}, requestFor("b"))
					pq.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, requestFor("c"))
					q.AddAfter(requestFor("b"), 20*time.Second) // the earlier time wins
				} else {
					q.AddAfter(requestFor("b"), 10*time.Second)
					q.AddRateLimited(requestFor("c"))
				}
				check("added", 1, 2, 0)
				retried := func(step string, want float64) {
					t.Helper()
					if n := metricstest.Gather(t, registry).Sum("controller_item_retries_max", "controller", "test"); n != want {
						t.Errorf("%s: an item with %v retries, want %v", step, n, want)
					}
				}
				retried("c is retried", 1)
				time.Sleep(time.Second)
				check("the backoff is over", 1, 1, 1)
				for range 2 {
					item, _ := q.Get()
					q.Done(item)
					q.Forget(item)
				}
				check("taken", 1, 1, 0)
				retried("forgotten", 0)
				time.Sleep(10 * time.Second)
				check("the delay is over", 1, 0, 1)
				running := func(step string, want float64) {
					t.Helper()
					synctest.Wait()
					if n := metricstest.Gather(t, registry).Sum("controller_running_workers", "controller", "test"); n != want {
						t.Errorf("%s: %v running workers, want %v", step, n, want)
					}
				}
				running("none", 0)
				for range 2 {
					go q.Get() // one takes b, the other waits
				}
				running("one processes, one waits", 2)
				q.Done(requestFor("b"))
				running("one ends", 1)
				q.ShutDown()
				synctest.Wait()
				if n := len(metricstest.Gather(t, registry).Select("controller_queue_coalesced_total")); n != 0 {
					t.Errorf("%d series after the shutdown", n)
				}
			})
		})
	}
}

// TestOwnQueue: a queue of a custom type is not decorated.
func TestOwnQueue(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	own := &ownQueue{}
	q := queueOf(t, registry, controller.Options{
		NewQueue: func(string, workqueue.TypedRateLimiter[ctrl.Request]) workqueue.TypedRateLimitingInterface[ctrl.Request] {
			return own
		},
	})
	if q != own {
		t.Errorf("the queue is a %T", q)
	}
}

type ownQueue struct {
	workqueue.TypedRateLimitingInterface[ctrl.Request]
}

// TestQueueBehavior makes the same random calls to a plain and to a decorated queue, at the same times: all answers must be
// the same, in the same order.
func TestQueueBehavior(t *testing.T) {
	for name, o := range options {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				var answers [2][]string
				for i, registry := range []*prometheus.Registry{nil, prometheus.NewRegistry()} {
					synctest.Test(t, func(t *testing.T) {
						fresh := o
						if fresh.RateLimiter != nil {
							fresh.RateLimiter = exponential()
						}
						answers[i] = play(seed, queueOf(t, registry, fresh))
					})
				}
				if len(answers[0]) < 50 || !slices.Equal(answers[0], answers[1]) {
					t.Fatalf("seed %d: the answers are\n%q\nwithout the decorator\n%q", seed, answers[1], answers[0])
				}
			}
		})
	}
}

// play makes random calls to a queue, with one worker at a time in Get, and returns all answers.
func play(seed uint64, q workqueue.TypedRateLimitingInterface[ctrl.Request]) (answers []string) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	say := func(format string, values ...any) { answers = append(answers, fmt.Sprintf(format, values...)) }
	pq, _ := q.(priorityqueue.PriorityQueue[ctrl.Request])
	type answer struct {
		item     ctrl.Request
		priority int
		shutdown bool
	}
	var (
		processed []ctrl.Request
		waiting   chan answer // of the worker, nil if there is none
	)
	collect := func() {
		synctest.Wait()
		select {
		case a := <-waiting:
			waiting = nil
			say("got %q %d %v", a.item.Name, a.priority, a.shutdown)
			if !a.shutdown {
				processed = append(processed, a.item)
			}
		default:
		}
	}
	get := func() {
		if waiting != nil {
			return
		}
		waiting = make(chan answer, 1)
		go func(ch chan answer) {
			var a answer
			if pq != nil {
				a.item, a.priority, a.shutdown = pq.GetWithPriority()
			} else {
				a.item, a.shutdown = q.Get()
			}
			ch <- a
		}(waiting)
	}
	for range 400 {
		time.Sleep(time.Duration(1+rnd.IntN(3000)) * time.Microsecond)
		item := requestFor(string(rune('a' + rnd.IntN(6))))
		switch n := rnd.IntN(100); {
		case n < 20:
			q.Add(item)
		case n < 30:
			q.AddAfter(item, time.Duration(rnd.IntN(20))*time.Millisecond)
		case n < 40:
			q.AddRateLimited(item)
		case n < 50 && pq != nil:
			pq.AddWithOpts(priorityqueue.AddOpts{
				RateLimited: rnd.IntN(2) == 0, After: time.Duration(rnd.IntN(10)) * time.Millisecond, Priority: new(rnd.IntN(3)),
			}, item, requestFor("other"))
		case n < 55:
			q.Forget(item)
		case n < 65:
			say("%d items, %d retries of %s", q.Len(), q.NumRequeues(item), item.Name)
		case n < 85 || len(processed) == 0:
			get()
		default:
			q.Done(processed[0])
			processed = processed[1:]
		}
		collect()
	}
	q.ShutDown()
	collect()
	say("shutting down: %v", q.ShuttingDown())
	return answers
}
