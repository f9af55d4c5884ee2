package collectors

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// upstream reports client-go's own metrics about informers. client-go measures; unlike component-base, upstream deletes
// the series of informers that have ended. Informers that were not given a reserved cache.InformerName have none.
type upstream struct {
	queued, version *prometheus.GaugeVec
	latency         *prometheus.HistogramVec

	// uses has the labels that informers use: a name can be released and taken again while an informer that had it still
	// ends.
	uses series.Pool[upstreamLabels, struct{}]
}

var _ prometheus.Collector = &upstream{}

// upstreamLabels are name, group, version and resource.
type upstreamLabels [4]string

func newUpstream() *upstream {
	return &upstream{
		queued:  upstreamGauge(catalog.UpstreamQueuedItems),
		version: upstreamGauge(catalog.UpstreamStoreResourceVersion),
		latency: upstreamHistogram(catalog.UpstreamProcessingLatency),
	}
}

func upstreamGauge(m catalog.Gauge) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: m.Help}, m.LabelNames())
}

func upstreamCounter(m catalog.Counter) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.LabelNames())
}

func upstreamHistogram(m catalog.Histogram) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: m.Buckets}, m.LabelNames())
}

// hasRoom tells whether some of client-go's own metrics can be registered. They cannot where component-base or
// controller-runtime, which name them the same, have done so, or another Observer; they are left to whoever was first.
// What has room is registered together with the Observer's own metrics.
func (o *Observer) hasRoom(reg prometheus.Registerer, metrics string, c prometheus.Collector) bool {
	if err := reg.Register(c); err != nil {
		o.logger.Info("These metrics of client-go cannot be registered, and are left to whoever was first", "metrics", metrics, "reason", err)
		return false
	}
	reg.Unregister(c)
	return true
}

// Describe implements prometheus.Collector.
func (u *upstream) Describe(ch chan<- *prometheus.Desc) {
	u.queued.Describe(ch)
	u.latency.Describe(ch)
	u.version.Describe(ch)
}

// Collect implements prometheus.Collector.
func (u *upstream) Collect(ch chan<- prometheus.Metric) {
	u.queued.Collect(ch)
	u.latency.Collect(ch)
	u.version.Collect(ch)
}

// metricsProvider returns what client-go is to report an informer's own metrics to: what the caller has given, else ours
// if it was asked for, else none, for which client-go takes that of the process.
func (inf *informer) metricsProvider(given cache.InformerMetricsProvider) cache.InformerMetricsProvider {
	if given != nil || inf.obs.upstream == nil {
		return given
	}
	inf.upstream = &upstreamInformer{upstream: inf.obs.upstream}
	return inf.upstream
}

// upstreamInformer is client-go's provider of metrics for one informer.
type upstreamInformer struct {
	*upstream
	mu sync.Mutex
	// acquired is set while the informer has series. It is guarded by mu, and so are the labels.
	acquired bool
	labels   upstreamLabels
}

var _ cache.InformerMetricsProvider = &upstreamInformer{}

// NewQueuedItemMetric implements cache.InformerMetricsProvider.
func (i *upstreamInformer) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	l := i.acquire(id)
	return reservedGauge{id, i.queued.WithLabelValues(l[:]...)}
}

// NewProcessingLatencyMetric implements cache.InformerMetricsProvider.
func (i *upstreamInformer) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	l := i.acquire(id)
	return reservedHistogram{id, i.latency.WithLabelValues(l[:]...)}
}

// NewStoreResourceVersionMetric implements cache.InformerMetricsProvider.
func (i *upstreamInformer) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	l := i.acquire(id)
	return reservedGauge{id, i.version.WithLabelValues(l[:]...)}
}

// acquire returns the labels of an informer, which has only one id.
func (i *upstreamInformer) acquire(id cache.InformerNameAndResource) upstreamLabels {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.acquired {
		gvr := id.GroupVersionResource()
		i.acquired, i.labels = true, upstreamLabels{id.Name(), gvr.Group, gvr.Version, gvr.Resource}
		i.uses.Acquire(i.labels, func() struct{} { return struct{}{} })
	}
	return i.labels
}

// end deletes the informer's series, unless another one has them too. What client-go still writes goes nowhere.
func (i *upstreamInformer) end() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.acquired {
		return
	}
	i.acquired = false
	i.uses.Release(i.labels, func(struct{}) {
		i.queued.DeleteLabelValues(i.labels[:]...)
		i.latency.DeleteLabelValues(i.labels[:]...)
		i.version.DeleteLabelValues(i.labels[:]...)
	})
}

// reservedGauge and reservedHistogram are silent once the informer's name has been released, as client-go asks for:
// another informer may have it then.
type reservedGauge struct {
	id    cache.InformerNameAndResource
	gauge prometheus.Gauge
}

// Set implements cache.GaugeMetric.
func (g reservedGauge) Set(value float64) {
	if g.id.Reserved() {
		g.gauge.Set(value)
	}
}

type reservedHistogram struct {
	id        cache.InformerNameAndResource
	histogram prometheus.Observer
}

// Observe implements cache.HistogramMetric.
func (h reservedHistogram) Observe(value float64) {
	if h.id.Reserved() {
		h.histogram.Observe(value)
	}
}
