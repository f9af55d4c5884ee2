package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// BenchmarkQueue compares the time of an item from Add through Get to Done, with one and with a thousand items in the
// queue. The budget is a ratio of 1.10 and no allocation, compared with a queue that reports client-go's own metrics to
// Prometheus, as nearly all queues do. The observed queue reports them as well. The ratio to a queue without metrics is
// higher, because such a queue does not read the clock.
func BenchmarkQueue(b *testing.B) {
	type maker func(*collectors.Observer, workqueue.MetricsProvider) workqueue.TypedInterface[string]
	limiter := workqueue.DefaultTypedControllerRateLimiter[string]
	plain := func(_ *collectors.Observer, provider workqueue.MetricsProvider) workqueue.TypedInterface[string] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter(), workqueue.TypedRateLimitingQueueConfig[string]{Name: "bench", MetricsProvider: provider})
	}
	observed := func(obs *collectors.Observer, provider workqueue.MetricsProvider) workqueue.TypedInterface[string] {
		return queue.NewTypedRateLimitingQueue(obs, "bench", limiter(), queue.Options[string]{MetricsProvider: provider})
	}
	run := func(make maker, upstream bool, ready int) budget.Workload {
		return func(b *testing.B, n int) time.Duration {
			obs, reg := observertest.New(b)
			var provider workqueue.MetricsProvider
			if upstream {
				provider = queue.NewMetricsProvider(obs)
			} else {
				reg.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: catalog.UpstreamQueueDepth.Name})) // of other code
			}
			q := make(obs, provider)
			defer q.ShutDown()
			// The result is the best of many short rounds, each shorter than a time slice of a busy machine.
			best, rounds := time.Hour, n/len(names)
			for range rounds {
				begin := time.Now()
				for range len(names) / ready {
					for _, name := range names[:ready] {
						q.Add(name)
					}
					for range ready {
						item, _ := q.Get()
						q.Done(item)
					}
				}
				best = min(best, time.Since(begin))
			}
			return best * time.Duration(rounds)
		}
	}
	for _, c := range []struct {
		name     string
		upstream bool
		ready    int
	}{
		{"reporting/ready=1", true, 1},
		{"reporting/ready=1000", true, 1000},
		{"silent/ready=1", false, 1},
		{"silent/ready=1000", false, 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			budget.Ratio(b, 30_000, run(plain, c.upstream, c.ready), run(observed, c.upstream, c.ready))
		})
	}
}

var names = func() (names [1000]string) {
	for i := range names {
		names[i] = fmt.Sprintf("pod-%d", i)
	}
	return names
}()
