package collectors_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/tracing"
)

// BenchmarkTracing compares the path of an event from the bytes of the watch through decoder, handler and queue to the end of
// its reconcile, with and without a Tracer: one that is off, or that samples nothing, one trace in a hundred, or all. Spans are
// exported to a receiver in the same process, which discards them. The reconcile is empty and nothing is read from a network:
// both would hide the cost.
func BenchmarkTracing(b *testing.B) {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer receiver.Close()
	for _, c := range []struct{ name, exporter, ratio string }{
		{"off", "none", "1"}, {"never", "otlp", "0"}, {"1-percent", "otlp", "0.01"}, {"100-percent", "otlp", "1"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for key, value := range map[string]string{
				"OTEL_TRACES_EXPORTER": c.exporter, "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": c.ratio,
				"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.URL, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
			} {
				b.Setenv(key, value)
			}
			provider, err := tracing.Setup(b.Context(), tracing.Config{ServiceName: "benchmark", Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = provider.Shutdown(context.Background()) }()
			flush := func() {
				if sdk, ok := provider.TracerProvider.(interface{ ForceFlush(context.Context) error }); ok {
					_ = sdk.ForceFlush(context.Background())
				}
			}
			cpuRatio(b, 30_000, eventPath(nil, func() {}), eventPath(tracing.NewTracer(provider, tracing.TracerOptions{}), flush))
		})
	}
}

// eventPath returns a workload of events with one reconcile each.
func eventPath(tracer *tracing.Tracer, flush func()) budget.Workload {
	return func(b *testing.B, n int) time.Duration {
		if tracer == nil {
			return processEvents(b, nil, n, flush)
		}
		return processEvents(b, tracer, n, flush)
	}
}

// processEvents processes n events with one reconcile each, after a first event for each Pod, and returns how long the n events
// took.
func processEvents(tb testing.TB, tracer collectors.Tracer, n int, flush func()) time.Duration {
	obs, _ := observertest.New(tb, func(o *collectors.Options) { o.Tracer = tracer })
	events := newPodEvents(tb)
	inf := informer.NewSharedIndexInformer(obs, informer.ID{Resource: "pods"}, events.listerWatcher(tb), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	q := queue.NewTypedRateLimitingQueue(obs, "benchmark", workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
	defer q.ShutDown()
	enqueue := func(object any) { q.Add(object.(*corev1.Pod).Name) }
	if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }}); err != nil {
		tb.Fatal(err)
	}
	// The window is shorter than the number of names, so that no add is coalesced.
	window := make(chan struct{}, 64)
	sync := controllers.NewSyncHandler(obs, "benchmark", func(context.Context, string) error { return nil }, controllers.Options{})
	go func() {
		for item, shutdown := q.Get(); !shutdown; item, shutdown = q.Get() {
			_ = sync(context.Background(), item)
			q.Done(item)
			<-window
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); inf.RunWithContext(ctx) }()
	defer func() { cancel(); <-ended }()
	send := func() {
		window <- struct{}{}
		events.send(tb)
	}
	for range benchPods {
		send()
	}
	begin := time.Now()
	for range n {
		send()
	}
	for range cap(window) {
		window <- struct{}{}
	}
	took := time.Since(begin)
	flush()
	return took
}

// cpuRounds is odd, so that there is a median.
const cpuRounds = 15

// cpuRatio alternates two workloads and reports the median ratios of their CPU time and of their duration over all rounds. Unlike
// budget.Ratio, it includes background work of a workload, such as exports and garbage collection, and other load on the machine hardly
// changes it. A round should take a few hundred milliseconds. The CPU time is that of the process.
func cpuRatio(b *testing.B, n int, plain, decorated budget.Workload) {
	b.Helper()
	var plains, added, ratios, durations, allocs []float64
	for range cpuRounds {
		var cpu, mallocs, took [2]float64
		for i, run := range []budget.Workload{plain, decorated} {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			begin := budget.CPUTime(b)
			took[i] = float64(run(b, n)) / float64(n)
			cpu[i] = float64(budget.CPUTime(b)-begin) / float64(n)
			runtime.ReadMemStats(&after)
			mallocs[i] = float64(after.Mallocs-before.Mallocs) / float64(n)
		}
		plains, added = append(plains, cpu[0]), append(added, cpu[1]-cpu[0])
		ratios, durations = append(ratios, cpu[1]/cpu[0]), append(durations, took[1]/took[0])
		allocs = append(allocs, mallocs[1]-mallocs[0])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(plains), "plain-cpu-ns")
	b.ReportMetric(median(added), "added-cpu-ns")
	b.ReportMetric(median(ratios), "cpu-ratio")
	b.ReportMetric(median(durations), "median-ratio")
	b.ReportMetric(median(allocs), "added-allocs")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
