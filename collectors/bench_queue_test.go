package collectors

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// BenchmarkQueue compares the way of an item through a queue, from Add over Get to Done. The budget is a ratio of 1.10
// and no allocation against a queue that reports client-go's own metrics to Prometheus, as nearly all do; the decorated
// one then reports them too. The ratio against one that reports nothing is there for honesty.
func BenchmarkQueue(b *testing.B) {
	metrics := func(b *testing.B) workqueue.MetricsProvider {
		obs, _ := newObserver(b, withUpstream)
		return obs.WorkqueueMetricsProvider()
	}
	plain := func(b *testing.B, provider workqueue.MetricsProvider) workqueue.TypedInterface[string] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "bench", MetricsProvider: provider})
	}
	decorated := func(b *testing.B, provider workqueue.MetricsProvider) workqueue.TypedInterface[string] {
		obs, _ := newObserver(b)
		return NewQueue(obs, "bench", workqueue.DefaultTypedControllerRateLimiter[string](), QueueOptions[string]{MetricsProvider: provider})
	}
	wrapped := func(b *testing.B, provider workqueue.MetricsProvider) workqueue.TypedInterface[string] {
		obs, _ := newObserver(b)
		return WrapQueue(obs, "bench", plain(b, provider).(workqueue.TypedRateLimitingInterface[string]))
	}
	type maker func(*testing.B, workqueue.MetricsProvider) workqueue.TypedInterface[string]
	// depth is how many items wait at a time.
	run := func(make maker, reporting bool, depth int) workload {
		return func(b *testing.B, n int) time.Duration {
			var provider workqueue.MetricsProvider
			if reporting {
				provider = metrics(b)
			}
			q := make(b, provider)
			defer q.ShutDown()
			begin := time.Now()
			for i := 0; i < n; i += depth {
				for j := range depth {
					q.Add(names[j])
				}
				for range depth {
					item, _ := q.Get()
					q.Done(item)
				}
			}
			return time.Since(begin)
		}
	}
	for _, c := range []struct {
		name      string
		decorated maker
		reporting bool
		depth     int
	}{
		{"reporting/depth=1", decorated, true, 1},
		{"reporting/depth=1000", decorated, true, 1000},
		{"silent/depth=1", decorated, false, 1},
		{"silent/depth=1000", decorated, false, 1000},
		{"wrapped/reporting/depth=1", wrapped, true, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			ratio(b, 300_000, run(plain, c.reporting, c.depth), run(c.decorated, c.reporting, c.depth))
		})
	}
}

var _ = prometheus.Labels{}
