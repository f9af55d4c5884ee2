package queue

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// upstreamQueues reports client-go's own metrics of work queues. Unlike component-base, it deletes the series of observed
// queues that have ended.
type upstreamQueues struct {
	// metrics is nil unless the Observer reports them.
	metrics *core.Vectors
	// names limits the names of queues that are created elsewhere; those of observed queues are limited as controllers.
	// Overflows are not counted, because client-go asks for the metrics of a queue one by one.
	names series.Cap
	// uses holds the metrics of each name. Queues with the same name share them, as with component-base.
	uses series.Pool[string, *upstreamQueue]
}

// join returns the metrics of a queue. They exist at least until leave is called, which must be done at most once.
func (u *upstreamQueues) join(name string) (q *upstreamQueue, leave func()) {
	q = u.uses.Acquire(name, func() *upstreamQueue {
		return &upstreamQueue{
			depth:      u.metrics.Gauge(catalog.UpstreamQueueDepth, name),
			unfinished: u.metrics.Gauge(catalog.UpstreamQueueUnfinishedWork, name),
			longest:    u.metrics.Gauge(catalog.UpstreamQueueLongestRunning, name),
			adds:       u.metrics.Counter(catalog.UpstreamQueueAdds, name),
			retries:    u.metrics.Counter(catalog.UpstreamQueueRetries, name),
			latency:    u.metrics.Histogram(catalog.UpstreamQueueLatency, name),
			work:       u.metrics.Histogram(catalog.UpstreamQueueWorkDuration, name),
		}
	})
	return q, func() {
		u.uses.Release(name, func(*upstreamQueue) {
			u.metrics.Delete(catalog.UpstreamQueueDepth.Metric, name)
			u.metrics.Delete(catalog.UpstreamQueueUnfinishedWork.Metric, name)
			u.metrics.Delete(catalog.UpstreamQueueLongestRunning.Metric, name)
			u.metrics.Delete(catalog.UpstreamQueueAdds.Metric, name)
			u.metrics.Delete(catalog.UpstreamQueueRetries.Metric, name)
			u.metrics.Delete(catalog.UpstreamQueueLatency.Metric, name)
			u.metrics.Delete(catalog.UpstreamQueueWorkDuration.Metric, name)
		})
	}
}

// upstreamQueue are the metrics of the queues with one name.
type upstreamQueue struct {
	depth, unfinished, longest prometheus.Gauge
	adds, retries              prometheus.Counter
	latency, work              prometheus.Observer
}

// queueMetrics returns the provider for client-go's own metrics of a queue: the one from the queue's options, else the
// Observer's if it has one, else nil, which makes client-go use the provider of the process. The name must be a label value
// of the Observer's.
func (r *registry) queueMetrics(name string, option workqueue.MetricsProvider) (provider workqueue.MetricsProvider, leave func()) {
	if option != nil || r.Queues == nil {
		return option, func() {}
	}
	q, leave := r.upstream.join(name)
	return &metricsProvider{func(string) *upstreamQueue { return q }}, leave
}

// NewMetricsProvider returns a provider that adds client-go's own metrics of work queues to the Observer's, for queues that
// are created elsewhere:
//
//	workqueue.SetProvider(queue.NewMetricsProvider(obs)) // once per process, before the first queue is created
//
// The library never calls SetProvider itself, because a process has one provider and the first call wins. Queues of
// NewTypedRateLimitingQueue do not need it. The series live as long as the Observer, because client-go does not report the
// end of a queue. The provider discards everything unless collectors.Options.UpstreamMetrics is set and nothing else has
// registered workqueue_*. It is safe for concurrent use.
func NewMetricsProvider(obs *collectors.Observer) workqueue.MetricsProvider {
	r := registryOf(obs)
	u := &r.upstream
	if u.metrics == nil {
		u = &upstreamQueues{metrics: core.NewUpstreamQueues(), names: series.Cap{Limit: r.Labels.Controllers.Limit}}
	}
	return &metricsProvider{func(name string) *upstreamQueue {
		q, _ := u.join(u.names.Acquire(name))
		return q
	}}
}

// metricsProvider implements client-go's provider of metrics.
type metricsProvider struct {
	// of returns the metrics of the queue with the given name.
	of func(name string) *upstreamQueue
}

var _ workqueue.MetricsProvider = &metricsProvider{}

// NewDepthMetric implements workqueue.MetricsProvider.
func (p *metricsProvider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return p.of(name).depth
}

// NewAddsMetric implements workqueue.MetricsProvider.
func (p *metricsProvider) NewAddsMetric(name string) workqueue.CounterMetric {
	return p.of(name).adds
}

// NewLatencyMetric implements workqueue.MetricsProvider.
func (p *metricsProvider) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return p.of(name).latency
}

// NewWorkDurationMetric implements workqueue.MetricsProvider.
func (p *metricsProvider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return p.of(name).work
}

// NewUnfinishedWorkSecondsMetric implements workqueue.MetricsProvider.
func (p *metricsProvider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.of(name).unfinished
}

// NewLongestRunningProcessorSecondsMetric implements workqueue.MetricsProvider.
func (p *metricsProvider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.of(name).longest
}

// NewRetriesMetric implements workqueue.MetricsProvider.
func (p *metricsProvider) NewRetriesMetric(name string) workqueue.CounterMetric {
	return p.of(name).retries
}
