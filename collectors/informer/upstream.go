package informer

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// metricsProvider returns the provider of client-go's own metrics for an informer: the given one, else the Observer's if
// enabled, else nil, which makes client-go use the provider of the process.
func (s *shared) metricsProvider(given cache.InformerMetricsProvider) (cache.InformerMetricsProvider, *upstreamInformer) {
	if given != nil || s.Informers == nil {
		return given, nil
	}
	u := &upstreamInformer{metrics: s.Informers, uses: &s.upstream}
	return u, u
}

// upstreamInformer is client-go's provider of metrics for one informer.
type upstreamInformer struct {
	metrics *core.Vectors
	// uses counts the informers with the same labels: a name can be released and reserved again while an informer that
	// had it is still ending.
	uses *series.Pool[upstreamLabels, struct{}]
	mu   sync.Mutex
	// acquired is set while the informer has series. It is guarded by mu, and so are the labels.
	acquired bool
	labels   upstreamLabels
}

var _ cache.InformerMetricsProvider = &upstreamInformer{}

// NewQueuedItemMetric implements cache.InformerMetricsProvider.
func (i *upstreamInformer) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	l := i.acquire(id)
	return reservedGauge{id, i.metrics.Gauge(catalog.UpstreamQueuedItems, l[:]...)}
}

// NewProcessingLatencyMetric implements cache.InformerMetricsProvider.
func (i *upstreamInformer) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	l := i.acquire(id)
	return reservedHistogram{id, i.metrics.Histogram(catalog.UpstreamProcessingLatency, l[:]...)}
}

// NewStoreResourceVersionMetric implements cache.InformerMetricsProvider.
func (i *upstreamInformer) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	l := i.acquire(id)
	return reservedGauge{id, i.metrics.Gauge(catalog.UpstreamStoreResourceVersion, l[:]...)}
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

// end deletes the informer's series, unless another informer has the same labels. Later writes have no effect.
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
		i.metrics.Delete(catalog.UpstreamQueuedItems.Metric, i.labels[:]...)
		i.metrics.Delete(catalog.UpstreamProcessingLatency.Metric, i.labels[:]...)
		i.metrics.Delete(catalog.UpstreamStoreResourceVersion.Metric, i.labels[:]...)
	})
}

// reservedGauge and reservedHistogram ignore writes once the informer's name is released, as client-go requires: another
// informer may use the name by then.
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
