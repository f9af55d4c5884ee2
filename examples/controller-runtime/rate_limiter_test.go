package main

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

// TestRateLimiterInThePriorityQueue: controller-runtime's queue asks the rate limiter in a goroutine of its own. The
// back-off of each retry is seen, and the retries of an item when it is forgotten; priorities stay.
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
		t.Errorf("the priority is %d", priority)
	}
	for name, want := range map[string]struct {
		count uint64
		sum   float64
	}{
		"controller_backoff_seconds": {3, .005 + .01 + .02},
		"controller_item_retries":    {1, 3},
	} {
		h := histogram(t, registry, name)
		if diff := h.GetSampleSum() - want.sum; h.GetSampleCount() != want.count || diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%s: %d observed, %v in all, want %v", name, h.GetSampleCount(), h.GetSampleSum(), want)
		}
	}
}

// TestUpstreamMetricsAreControllerRuntimes: controller-runtime has registered workqueue_* in its registry, with labels of
// its own. An Observer that is asked for client-go's metrics leaves these to it.
func TestUpstreamMetricsAreControllerRuntimes(t *testing.T) {
	obs, err := collectors.New(metrics.Registry, collectors.Options{Name: "upstream-metrics", UpstreamMetrics: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { metrics.Registry.Unregister(obs) })
	q := queue.NewTypedRateLimitingQueue(obs, "reports-to-controller-runtime", workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
	defer q.ShutDown()
	q.Add("a")
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "workqueue_adds_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetValue() == "reports-to-controller-runtime" && m.GetCounter().GetValue() == 1 {
					return
				}
			}
		}
	}
	t.Error("the queue does not report its add to controller-runtime")
}

func histogram(t *testing.T, g prometheus.Gatherer, name string) *dto.Histogram {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetHistogram()
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}
