package controllerruntime_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
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
