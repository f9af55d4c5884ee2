package queue

import (
	"reflect"
	"strings"

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
	*core.Vectors
	// names limits the names of queues that are created elsewhere; those of observed queues are limited as controllers.
	// Overflows are not counted, because client-go asks for the metrics of a queue one by one.
	names series.Cap
	// uses holds the metrics of each name. Queues with the same name share them, as with component-base.
	uses series.Pool[string, *upstreamQueue]
}

var _ prometheus.Collector = &upstreamQueues{}

// newUpstreamQueues returns metrics that are not registered.
func newUpstreamQueues(o *core.Observer) *upstreamQueues {
	return &upstreamQueues{Vectors: core.NewUpstreamQueues(o.Histograms), names: series.Cap{Limit: o.Labels.Controllers.Limit}}
}

// join returns the metrics of a queue. They exist at least until leave is called, which must be done at most once.
func (u *upstreamQueues) join(name string) (q *upstreamQueue, leave func()) {
	q = u.uses.Acquire(name, func() *upstreamQueue {
		scope := u.Scope(name)
		return &upstreamQueue{
			Scope:      scope,
			depth:      scope.Gauge(catalog.UpstreamQueueDepth),
			unfinished: scope.Gauge(catalog.UpstreamQueueUnfinishedWork),
			longest:    scope.Gauge(catalog.UpstreamQueueLongestRunning),
			adds:       scope.Counter(catalog.UpstreamQueueAdds),
			retries:    scope.Counter(catalog.UpstreamQueueRetries),
			latency:    scope.Histogram(catalog.UpstreamQueueLatency),
			work:       scope.Histogram(catalog.UpstreamQueueWorkDuration),
		}
	})
	return q, func() { u.uses.Release(name, func(q *upstreamQueue) { q.End() }) }
}

// upstreamQueue has the metrics of the queues with one name.
type upstreamQueue struct {
	*core.Scope
	depth, unfinished, longest prometheus.Gauge
	adds, retries              prometheus.Counter
	latency, work              prometheus.Observer
}

// queueMetrics returns the Observer's provider for client-go's own metrics of a queue, nil if other code has registered them.
// The name must be a label value of the Observer.
func (r *registry) queueMetrics(name string) (provider workqueue.MetricsProvider, leave func()) {
	u := r.upstream()
	if u == nil {
		return nil, func() {}
	}
	q, leave := u.join(name)
	return &metricsProvider{of: func(string) *upstreamQueue { return q }}, leave
}

// reportsNothing reports whether a queue with a name and without a provider has no metrics, because the process has no
// provider either. client-go does not expose the provider of the process.
func reportsNothing[T comparable](q *workqueue.Typed[T]) bool {
	metrics := reflect.ValueOf(q).Elem().FieldByName("metrics")
	return metrics.Kind() == reflect.Interface && !metrics.IsNil() && strings.HasPrefix(metrics.Elem().Type().Name(), "noMetrics")
}

// NewMetricsProvider returns a provider that adds client-go's own metrics of work queues to the Observer's, for queues that
// are created elsewhere:
//
//	workqueue.SetProvider(queue.NewMetricsProvider(obs)) // once per process, before the first queue is created
//
// The library never calls SetProvider itself, because a process has one provider and the first call wins. Queues of
// NewTypedRateLimitingQueue do not need it. The series live as long as the Observer, because client-go does not report the
// end of a queue. The provider discards everything if other code has registered workqueue_*. It is safe for concurrent use.
func NewMetricsProvider(obs *collectors.Observer) workqueue.MetricsProvider {
	r := registryOf(obs)
	u := r.upstream()
	if u == nil {
		u = newUpstreamQueues(r.Observer)
	}
	return &metricsProvider{of: func(name string) *upstreamQueue {
		q, _ := u.join(u.names.Acquire(name))
		return q
	}}
}

// metricsProvider implements client-go's provider of metrics.
type metricsProvider struct {
	// of returns the metrics of the queue with the given name.
	of func(name string) *upstreamQueue
	// latency replaces the latency of a traced queue unless it is nil.
	latency func(name string) workqueue.HistogramMetric
}

var _ workqueue.MetricsProvider = &metricsProvider{}

// holdLatency makes the Observer's provider delay the queue latency of a traced item until its trace ID is known. Any other
// provider, and that of a queue that is not traced, is returned unchanged.
func holdLatency[T comparable](provider workqueue.MetricsProvider, traced *recentItems[T]) workqueue.MetricsProvider {
	p, ok := provider.(*metricsProvider)
	if !ok || traced == nil || p.latency != nil {
		return provider
	}
	return &metricsProvider{of: p.of, latency: func(name string) workqueue.HistogramMetric {
		traced.latency = p.of(name).latency
		return traced
	}}
}

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
	if p.latency != nil {
		return p.latency(name)
	}
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
