package collectors

import (
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// BenchmarkQueue compares the way of an item through a queue, from Add over Get to Done, one at a time and with a thousand
// of them ready. The budget is a ratio of 1.10 and no allocation against a queue that reports client-go's own metrics to
// Prometheus, as nearly all do; the decorated one reports them too. Against one that reports nothing the ratio is higher,
// because that one does not read a clock.
func BenchmarkQueue(b *testing.B) {
	type maker func(*Observer, workqueue.MetricsProvider) workqueue.TypedInterface[string]
	limiter := workqueue.DefaultTypedControllerRateLimiter[string]
	plain := func(_ *Observer, provider workqueue.MetricsProvider) workqueue.TypedInterface[string] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter(), workqueue.TypedRateLimitingQueueConfig[string]{Name: "bench", MetricsProvider: provider})
	}
	decorated := func(obs *Observer, provider workqueue.MetricsProvider) workqueue.TypedInterface[string] {
		return NewQueue(obs, "bench", limiter(), QueueOptions[string]{MetricsProvider: provider})
	}
	wrapped := func(obs *Observer, provider workqueue.MetricsProvider) workqueue.TypedInterface[string] {
		return WrapQueue(obs, "bench", plain(obs, provider).(workqueue.TypedRateLimitingInterface[string]))
	}
	run := func(make maker, reporting bool, ready int) workload {
		return func(b *testing.B, n int) time.Duration {
			obs, _ := newObserver(b, func(o *Options) { o.UpstreamMetrics = reporting })
			var provider workqueue.MetricsProvider
			if reporting {
				provider = obs.WorkqueueMetricsProvider()
			}
			q := make(obs, provider)
			defer q.ShutDown()
			// The best of many short runs counts, each of them less than a time slice of a busy machine.
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
		name      string
		make      maker
		reporting bool
		ready     int
	}{
		{"reporting/ready=1", decorated, true, 1},
		{"reporting/ready=1000", decorated, true, 1000},
		{"silent/ready=1", decorated, false, 1},
		{"silent/ready=1000", decorated, false, 1000},
		{"wrapped/ready=1", wrapped, true, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			ratio(b, 100_000, run(plain, c.reporting, c.ready), run(c.make, c.reporting, c.ready))
		})
	}
}
