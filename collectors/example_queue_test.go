package collectors_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// A queue in place of client-go's. Three events of one object become one item, and another item waits for its time.
func ExampleNewQueue() {
	registry, obs := newObserver()
	queue := collectors.NewQueue(obs, "pods", workqueue.DefaultTypedControllerRateLimiter[string]())
	defer queue.ShutDown()

	queue.Add("shop/web")
	queue.Add("shop/web")
	queue.Add("shop/web")
	queue.AddAfter("shop/db", time.Hour)
	show(registry, "controller_queue_coalesced_total", "controller_queue_delayed_items")
	// Output:
	// controller_queue_coalesced_total{controller="pods"} 2
	// controller_queue_delayed_items{controller="pods"} 1
}

// The worker of a controller: errors are retried with back-off, unless no retry can mend them, or there were too many.
func ExampleQueue_Retry() {
	registry, obs := newObserver()
	queue := collectors.NewQueue(obs, "pods", workqueue.DefaultTypedControllerRateLimiter[string]())

	reconcile := func(item string) error {
		if item == "shop/misspelt" {
			return collectors.TerminalError(errors.New("no such field"))
		}
		return nil
	}
	queue.Add("shop/web")
	queue.Add("shop/misspelt")
	queue.ShutDown() // here, so that the worker ends

	for item, shutdown := queue.Get(); !shutdown; item, shutdown = queue.Get() {
		err := reconcile(item)
		outcome := queue.Retry(item, err, 15)
		fmt.Printf("%s: %s (%v)\n", item, outcome, err)
		if item == "shop/misspelt" { // the last one: with the end of the worker, the series end
			show(registry, "controller_dropped_total")
		}
		queue.Done(item)
	}
	// Output:
	// shop/web: success (<nil>)
	// shop/misspelt: terminal (terminal error: no such field)
	// controller_dropped_total{controller="pods",reason="max_retries"} 0
	// controller_dropped_total{controller="pods",reason="shutdown"} 0
	// controller_dropped_total{controller="pods",reason="terminal"} 1
}

// An error that no retry can mend.
func ExampleTerminalError() {
	invalid := errors.New("the spec is invalid")
	err := fmt.Errorf("reconcile: %w", collectors.TerminalError(invalid))
	fmt.Println(err)
	fmt.Println(errors.Is(err, collectors.ErrTerminal), errors.Is(err, invalid), collectors.TerminalError(nil) == nil)
	// Output:
	// reconcile: terminal error: the spec is invalid
	// true true true
}

// The rate limiter of a queue that is made elsewhere, such as controller-runtime's.
func ExampleRateLimiter() {
	registry, obs := newObserver()
	limiter := collectors.RateLimiter(obs, "pods",
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 30*time.Second))
	fmt.Println(limiter.When("shop/web"), limiter.When("shop/web"), limiter.NumRequeues("shop/web"))
	limiter.Forget("shop/web")

	families, err := registry.Gather()
	if err != nil {
		panic(err)
	}
	for _, f := range families {
		if h := f.GetMetric()[0].GetHistogram(); h != nil {
			fmt.Printf("%s: %d observed, %v in all\n", f.GetName(), h.GetSampleCount(), h.GetSampleSum())
		}
	}
	// Output:
	// 5ms 10ms 2
	// controller_backoff_seconds: 2 observed, 0.015 in all
	// controller_item_retries: 1 observed, 2 in all
}

// A queue that exists already.
func ExampleWrapQueue() {
	registry, obs := newObserver()
	existing := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	queue := collectors.WrapQueue(obs, "pods", existing)
	defer queue.ShutDown()

	queue.Add("shop/web")
	queue.Add("shop/web")
	show(registry, "controller_queue_coalesced_total")
	// Output:
	// controller_queue_coalesced_total{controller="pods"} 1
}

// client-go's own metrics, for a queue that is made elsewhere.
func ExampleObserver_WorkqueueMetricsProvider() {
	registry := prometheus.NewRegistry()
	obs, err := collectors.New(registry, collectors.Options{Name: "my-controller", UpstreamMetrics: true})
	if err != nil {
		panic(err)
	}
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "pods", MetricsProvider: obs.WorkqueueMetricsProvider()},
	)
	defer queue.ShutDown()

	queue.Add("shop/web")
	queue.Add("shop/web")
	show(registry, "workqueue_depth", "workqueue_adds_total")
	// Output:
	// workqueue_adds_total{} 1
	// workqueue_depth{} 1
}
