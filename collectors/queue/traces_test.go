package queue_test

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

func reconcile(t *testing.T, obs *collectors.Observer, item string) {
	t.Helper()
	if err := controllers.NewSyncHandler(obs, "c", func(context.Context, string) error { return nil }, controllers.Options{})(t.Context(), item); err != nil {
		t.Error(err)
	}
}

// checkLinks compares the number of links of all reconciles, in the order in which they ended. Each must have succeeded.
func checkLinks(t *testing.T, tracer *spantest.Tracer, want ...int) {
	t.Helper()
	ended := tracer.Ended(spans.Reconcile)
	if len(ended) != len(want) {
		t.Fatalf("%d spans for %d reconciles: %v", len(ended), len(want), ended)
	}
	for i, s := range ended {
		if len(s.Links) != want[i] || s.Result.Result != "success" {
			t.Errorf("reconcile %d has %d links and the result %q, want %d links", i, len(s.Links), s.Result.Result, want[i])
		}
	}
}

// Queues with the same name, as in two managers, have their own items.
func TestTraceQueuesOfOneName(t *testing.T) {
	tracer := &spantest.Tracer{}
	obs, registry := observertest.New(t, func(o *collectors.Options) { o.Tracer = tracer })
	first := queue.NewTracker[string](obs, "c", queue.TrackerOptions{})
	second := queue.NewTracker[string](obs, "c", queue.TrackerOptions{})
	defer second.End()
	addInEvent := func() {
		leave := core.Of(obs).Tracing.Deliveries.Begin(core.Goroutine(), spans.SpanContext{TraceID: [16]byte{1}, SpanID: [8]byte{1}, Sampled: true})
		defer leave()
		first.Add("a", 0)
	}

	addInEvent()
	second.Add("a", 0)
	for _, q := range []*queue.Tracker[string]{second, first} {
		q.Get("a")
		reconcile(t, obs, "a")
		q.Done("a")
	}
	checkLinks(t, tracer, 0, 1)

	// Both in progress at once: the worker that began last ends first.
	addInEvent()
	second.Add("a", 0)
	got, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		first.Get("a")
		close(got)
		<-goOn
		reconcile(t, obs, "a")
		first.Done("a")
	}()
	<-got
	second.Get("a")
	reconcile(t, obs, "a")
	second.AddRateLimited("a")
	second.Done("a")
	close(goOn)
	<-ended
	checkLinks(t, tracer, 0, 1, 0, 1)

	first.End() // does not affect the other
	second.Get("a")
	reconcile(t, obs, "a")
	second.Done("a")
	checkLinks(t, tracer, 0, 1, 0, 1, 1)
	if v := metricstest.Take(t, registry)["controller_trace_links_dropped_total{reason=items}"]; v != 0 {
		t.Errorf("%v items dropped", v)
	}
}

// Items that a queue hands out after it was shut down have one span, even if their reconcile begins afterwards.
func TestTraceAfterEnd(t *testing.T) {
	tracer := &spantest.Tracer{}
	obs, _ := observertest.New(t, func(o *collectors.Options) { o.Tracer = tracer })
	q := queue.NewTracker[string](obs, "c", queue.TrackerOptions{})
	q.Add("taken", 0)
	q.Add("waiting", 0)
	q.Get("taken")
	q.End()
	reconcile(t, obs, "taken")
	q.Done("taken")
	q.Get("waiting")
	reconcile(t, obs, "waiting")
	q.Done("waiting")
	checkLinks(t, tracer, 0, 0)
}

// Start is not called for items that Sample has not chosen, unless they have a cause. The latency of each item is reported once.
func TestTraceChoice(t *testing.T) {
	t.Run("default order", func(t *testing.T) { testTraceChoice(t, nil) })
	t.Run("custom order", func(t *testing.T) { testTraceChoice(t, &lifo{}) })
}

func testTraceChoice(t *testing.T, order workqueue.Queue[string]) {
	chosen := false
	tracer := &spantest.Sampler{Choose: func(spans.Kind) bool { return chosen }}
	obs, registry := observertest.New(t, func(o *collectors.Options) { o.Tracer, o.UpstreamMetrics = tracer, true })
	q := queue.NewTypedRateLimitingQueue(obs, "c", workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{Order: order})
	defer q.ShutDown()
	process := func() {
		item, _ := q.Get()
		reconcile(t, obs, item)
		q.Done(item)
	}
	q.Add("not chosen")
	process()
	checkLinks(t, &tracer.Tracer)
	chosen = true
	q.Add("chosen")
	process()
	checkLinks(t, &tracer.Tracer, 0)
	chosen = false
	leave := core.Of(obs).Tracing.Deliveries.Begin(core.Goroutine(), spans.SpanContext{TraceID: [16]byte{1}, SpanID: [8]byte{1}, Sampled: true})
	q.Add("caused")
	leave()
	q.Add("not caused")
	process()
	process()
	checkLinks(t, &tracer.Tracer, 0, 1)
	if waits := tracer.Ended(spans.Wait); len(waits) != 2 {
		t.Errorf("waits %v, want 2", waits)
	}
	if n := metricstest.Take(t, registry)["workqueue_queue_duration_seconds_count"]; n != 4 {
		t.Errorf("%v latencies, want 4", n)
	}
	if n := latencyExemplars(t, registry); n == 0 {
		t.Error("the latency of a traced item has no trace ID")
	}
	chosen = true
	core.Of(obs).Tracing.Deliveries.Enter()
	q.Add("caused by an event that is not sampled")
	core.Of(obs).Tracing.Deliveries.Leave()
	process()
	checkLinks(t, &tracer.Tracer, 0, 1)
	q.AddRateLimited("retried")
	process()
	q.AddAfter("requeued", 0)
	process()
	checkLinks(t, &tracer.Tracer, 0, 1, 0, 0)
}

// latencyExemplars returns the number of buckets of the queue latency with an exemplar.
func latencyExemplars(t *testing.T, g prometheus.Gatherer) (n int) {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != catalog.UpstreamQueueLatency.Name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, b := range m.GetHistogram().GetBucket() {
				if b.GetExemplar() != nil {
					n++
				}
			}
		}
	}
	return n
}
