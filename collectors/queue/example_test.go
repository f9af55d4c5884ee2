package queue_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// Three adds of one item are coalesced, and another item is delayed.
func ExampleNewTypedRateLimitingQueue() {
	obs, registry := observertest.Example()
	q := queue.NewTypedRateLimitingQueue(obs, "pods",
		workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
	defer q.ShutDown()

	q.Add("shop/web")
	q.Add("shop/web")
	q.Add("shop/web")
	q.AddAfter("shop/db", time.Hour)
	observertest.Print(registry, "controller_queue_coalesced_total", "controller_queue_delayed_items")
	// Output:
	// controller_queue_coalesced_total{controller="pods"} 2
	// controller_queue_delayed_items{controller="pods"} 1
}

// A worker retries errors with backoff, and drops items after 15 retries.
func ExampleQueue_Dropped() {
	obs, registry := observertest.Example()
	q := queue.NewTypedRateLimitingQueue(obs, "pods",
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Microsecond, time.Millisecond), queue.Options[string]{})
	reconcile := func(string) error { return errors.New("not yet") }

	const maxRetries = 15
	process := func(item string) {
		defer q.Done(item)
		switch err := reconcile(item); {
		case err == nil:
			q.Forget(item)
		case q.NumRequeues(item) < maxRetries:
			q.AddRateLimited(item)
		default:
			fmt.Printf("dropped %s: %v\n", item, err)
			q.Dropped(queue.DroppedMaxRetries, 1)
			q.Forget(item)
			observertest.Print(registry, "controller_dropped_total")
			q.ShutDown() // so that the example ends
		}
	}
	q.Add("shop/web")
	for item, shutdown := q.Get(); !shutdown; item, shutdown = q.Get() {
		process(item)
	}
	// Output:
	// dropped shop/web: not yet
	// controller_dropped_total{controller="pods",reason="max_retries"} 1
}

// The rate limiter of a queue that is created elsewhere, such as controller-runtime's.
func ExampleNewTypedRateLimiter() {
	obs, registry := observertest.Example()
	limiter := queue.NewTypedRateLimiter(obs, "pods",
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 30*time.Second))
	fmt.Println(limiter.When("shop/web"), limiter.When("shop/web"), limiter.NumRequeues("shop/web"))
	limiter.Forget("shop/web")

	families, err := registry.Gather()
	if err != nil {
		panic(err)
	}
	for _, f := range families {
		if h := f.GetMetric()[0].GetHistogram(); h != nil {
			fmt.Printf("%s: count %d, sum %v\n", f.GetName(), h.GetSampleCount(), h.GetSampleSum())
		}
	}
	// Output:
	// 5ms 10ms 2
	// controller_backoff_seconds: count 2, sum 0.015
	// controller_item_retries: count 1, sum 2
}

// client-go's own metrics of a queue that is created elsewhere.
func ExampleNewMetricsProvider() {
	registry := prometheus.NewRegistry()
	obs, err := collectors.New(registry, collectors.Options{Name: "my-controller", UpstreamMetrics: true})
	if err != nil {
		panic(err)
	}
	q := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "pods", MetricsProvider: queue.NewMetricsProvider(obs)},
	)
	defer q.ShutDown()

	q.Add("shop/web")
	q.Add("shop/web")
	observertest.Print(registry, "workqueue_depth", "workqueue_adds_total")
	// Output:
	// workqueue_adds_total 1
	// workqueue_depth 1
}
