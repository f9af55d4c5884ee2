package informer

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// identifier stands for client-go's InformerNameAndResource, and metricsProvider for its InformerMetricsProvider with the
// HistogramMetric H. Older versions lack these types: see newer.go.
type (
	identifier interface {
		Name() string
		GroupVersionResource() schema.GroupVersionResource
		Reserved() bool
	}
	metricsProvider[ID identifier, H observer] interface {
		NewQueuedItemMetric(id ID) cache.GaugeMetric
		NewProcessingLatencyMetric(id ID) H
		NewStoreResourceVersionMetric(id ID) cache.GaugeMetric
	}
	observer interface{ Observe(value float64) }
)

// provideMetrics sets the provider to which client-go reports its own metrics of an informer, unless one is given or the
// Observer does not report them. If it stays nil, client-go uses the provider of the process.
func provideMetrics[P metricsProvider[ID, H], ID identifier, H observer](s *shared, provider *P) *upstreamInformer {
	if any(*provider) != nil || s.Informers == nil {
		return nil
	}
	u := &upstreamInformer{metrics: s.Informers, uses: &s.upstream}
	ours, ok := any(upstreamMetrics[ID, H]{u}).(P)
	if !ok {
		s.Logger.Warn("client-go's own metrics of informers are not reported: this version of client-go is not supported")
		return nil
	}
	*provider = ours
	return u
}

// upstreamMetrics is client-go's provider of metrics for one informer.
type upstreamMetrics[ID identifier, H observer] struct{ *upstreamInformer }

// NewQueuedItemMetric implements cache.InformerMetricsProvider.
func (m upstreamMetrics[ID, H]) NewQueuedItemMetric(id ID) cache.GaugeMetric {
	return reservedGauge{id, m.acquire(id).Gauge(catalog.UpstreamQueuedItems)}
}

// NewProcessingLatencyMetric implements cache.InformerMetricsProvider.
func (m upstreamMetrics[ID, H]) NewProcessingLatencyMetric(id ID) H {
	histogram, _ := any(reservedHistogram{id, m.acquire(id).Histogram(catalog.UpstreamProcessingLatency)}).(H)
	return histogram
}

// NewStoreResourceVersionMetric implements cache.InformerMetricsProvider.
func (m upstreamMetrics[ID, H]) NewStoreResourceVersionMetric(id ID) cache.GaugeMetric {
	return reservedGauge{id, m.acquire(id).Gauge(catalog.UpstreamStoreResourceVersion)}
}

// upstreamInformer has the series of one informer.
type upstreamInformer struct {
	metrics *core.Vectors
	// uses holds the series of informers with the same labels: a name can be released and reserved again while an informer that
	// had it is still ending.
	uses *series.Pool[upstreamLabels, *core.Scope]
	mu   sync.Mutex
	// scope is nil while the informer has no series. It is guarded by mu, and so are the labels.
	scope  *core.Scope
	labels upstreamLabels
}

// acquire returns the series of an informer, which has only one id.
func (i *upstreamInformer) acquire(id identifier) *core.Scope {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.scope == nil {
		gvr := id.GroupVersionResource()
		i.labels = upstreamLabels{id.Name(), gvr.Group, gvr.Version, gvr.Resource}
		i.scope = i.uses.Acquire(i.labels, func() *core.Scope { return i.metrics.Scope(i.labels[:]...) })
	}
	return i.scope
}

// end deletes the informer's series, unless another informer has the same labels. Later writes have no effect.
func (i *upstreamInformer) end() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.scope != nil {
		i.scope = nil
		i.uses.Release(i.labels, (*core.Scope).End)
	}
}

// reservedGauge and reservedHistogram ignore writes once the informer's name is released, as client-go requires: another
// informer may use the name by then.
type reservedGauge struct {
	id    identifier
	gauge prometheus.Gauge
}

// Set implements cache.GaugeMetric.
func (g reservedGauge) Set(value float64) {
	if g.id.Reserved() {
		g.gauge.Set(value)
	}
}

type reservedHistogram struct {
	id        identifier
	histogram prometheus.Observer
}

// Observe implements cache.HistogramMetric.
func (h reservedHistogram) Observe(value float64) {
	if h.id.Reserved() {
		h.histogram.Observe(value)
	}
}
