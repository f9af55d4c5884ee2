package collectors

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// upstreamQueues reports client-go's own metrics about work queues. client-go measures; unlike component-base,
// upstreamQueues deletes the series of queues that have ended, as far as NewQueue has made them.
type upstreamQueues struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, work              *prometheus.HistogramVec

	// names bounds the names of queues that are made elsewhere; those of NewQueue's are bounded as controllers. What finds
	// no room is not counted: client-go asks seven times for each queue.
	names series.Cap
	// uses holds the metrics of each name. Queues with the same name share them, as component-base has it.
	uses series.Pool[string, *upstreamQueue]
}

var _ prometheus.Collector = &upstreamQueues{}

func newUpstreamQueues(limit int) *upstreamQueues {
	return &upstreamQueues{
		depth:      upstreamGauge(catalog.UpstreamQueueDepth),
		unfinished: upstreamGauge(catalog.UpstreamQueueUnfinishedWork),
		longest:    upstreamGauge(catalog.UpstreamQueueLongestRunning),
		adds:       upstreamCounter(catalog.UpstreamQueueAdds),
		retries:    upstreamCounter(catalog.UpstreamQueueRetries),
		latency:    upstreamHistogram(catalog.UpstreamQueueLatency),
		work:       upstreamHistogram(catalog.UpstreamQueueWorkDuration),
		names:      series.Cap{Limit: limit},
	}
}

// Describe implements prometheus.Collector.
func (u *upstreamQueues) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range u.collectors() {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (u *upstreamQueues) Collect(ch chan<- prometheus.Metric) {
	for _, c := range u.collectors() {
		c.Collect(ch)
	}
}

func (u *upstreamQueues) collectors() []prometheus.Collector {
	return []prometheus.Collector{u.depth, u.unfinished, u.longest, u.adds, u.retries, u.latency, u.work}
}

// join returns the metrics of a queue. They are there at least until leave is called, which must be done once at most.
func (u *upstreamQueues) join(name string) (q *upstreamQueue, leave func()) {
	q = u.uses.Acquire(name, func() *upstreamQueue {
		return &upstreamQueue{
			depth:      u.depth.WithLabelValues(name),
			unfinished: u.unfinished.WithLabelValues(name),
			longest:    u.longest.WithLabelValues(name),
			adds:       u.adds.WithLabelValues(name),
			retries:    u.retries.WithLabelValues(name),
			latency:    u.latency.WithLabelValues(name),
			work:       u.work.WithLabelValues(name),
		}
	})
	return q, func() {
		u.uses.Release(name, func(*upstreamQueue) {
			u.depth.DeleteLabelValues(name)
			u.unfinished.DeleteLabelValues(name)
			u.longest.DeleteLabelValues(name)
			u.adds.DeleteLabelValues(name)
			u.retries.DeleteLabelValues(name)
			u.latency.DeleteLabelValues(name)
			u.work.DeleteLabelValues(name)
		})
	}
}

// upstreamQueue are the metrics of the queues with one name.
type upstreamQueue struct {
	depth, unfinished, longest prometheus.Gauge
	adds, retries              prometheus.Counter
	latency, work              prometheus.Observer
}

// queueMetrics returns what client-go is to report a queue's own metrics to: what the caller has given, else ours if it
// was asked for, else none, for which client-go takes that of the process. The name is one for which there is room.
func (o *Observer) queueMetrics(name string, given workqueue.MetricsProvider) (provider workqueue.MetricsProvider, leave func()) {
	if given != nil || o.upstreamQueues == nil {
		return given, func() {}
	}
	q, leave := o.upstreamQueues.join(name)
	return &workqueueProvider{func(string) *upstreamQueue { return q }}, leave
}

// WorkqueueMetricsProvider returns a provider that reports client-go's own metrics of work queues with the Observer's,
// for queues that are made elsewhere:
//
//	workqueue.SetProvider(obs.WorkqueueMetricsProvider()) // once in a process, before the first queue is made
//
// The library never does this itself: a process has one provider, and whoever sets it first decides for all. NewQueue
// does not need it. The series of such queues stay as long as the Observer, since client-go does not tell when a queue
// has ended. What is reported goes nowhere unless Options.UpstreamMetrics is set and the registry had room for
// workqueue_*.
func (o *Observer) WorkqueueMetricsProvider() workqueue.MetricsProvider {
	u := o.upstreamQueues
	if u == nil {
		u = newUpstreamQueues(o.controllers.names.Limit)
	}
	return &workqueueProvider{func(name string) *upstreamQueue {
		q, _ := u.join(u.names.Acquire(name))
		return q
	}}
}

// workqueueProvider is client-go's provider of metrics for work queues.
type workqueueProvider struct {
	// of returns the metrics of the queue with a name.
	of func(name string) *upstreamQueue
}

var _ workqueue.MetricsProvider = &workqueueProvider{}

// NewDepthMetric implements workqueue.MetricsProvider.
func (p *workqueueProvider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return p.of(name).depth
}

// NewAddsMetric implements workqueue.MetricsProvider.
func (p *workqueueProvider) NewAddsMetric(name string) workqueue.CounterMetric {
	return p.of(name).adds
}

// NewLatencyMetric implements workqueue.MetricsProvider.
func (p *workqueueProvider) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return p.of(name).latency
}

// NewWorkDurationMetric implements workqueue.MetricsProvider.
func (p *workqueueProvider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return p.of(name).work
}

// NewUnfinishedWorkSecondsMetric implements workqueue.MetricsProvider.
func (p *workqueueProvider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.of(name).unfinished
}

// NewLongestRunningProcessorSecondsMetric implements workqueue.MetricsProvider.
func (p *workqueueProvider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.of(name).longest
}

// NewRetriesMetric implements workqueue.MetricsProvider.
func (p *workqueueProvider) NewRetriesMetric(name string) workqueue.CounterMetric {
	return p.of(name).retries
}
