package informer

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
)

// Values of the label reason of k8s_informer_events_lost_total.
const (
	// lostOverrun is an event whose time of receipt was overwritten before a handler had finished with it.
	lostOverrun = "overrun"
	// lostTransform is an event whose object a Transform function dropped.
	lostTransform = "transform"
	// lostStop is an event that was not delivered to a handler before the handler was removed.
	lostStop = "stop"
)

// Values of the label cause of k8s_informer_unchanged_updates_total.
const (
	// unchangedResync is a resync: the object comes from the cache again.
	unchangedResync = "resync"
	// unchangedRelist is an object that a relist found at the same resourceVersion. client-go gives it to every handler
	// of an informer without a resync period.
	unchangedRelist = "relist"
)

// Values of the label stage of k8s_informer_resource_version.
const (
	stageReceived = "received"
	stageStored   = "stored"
	stageHandled  = "handled"
)

// Values of the label cause of k8s_informer_transform_drops_total.
const (
	dropError = "error"
	dropNil   = "nil"
)

// labels are the values of the labels that all metrics of an informer share.
type labels struct {
	informerType, watchNamespace string
}

func (l labels) with(more ...string) []string {
	return append([]string{l.informerType, l.watchNamespace}, more...)
}

// metrics are the series of all informers with the same labels: normally one, more if a program watches the same thing
// twice. Every series is resolved in advance, so that the hot path looks up no label, and a write after the end of the
// last informer has no effect.
type metrics struct {
	labels
	obs *core.Observer

	connection *stream.Metrics
	checks     *checks.Metrics
	// hits and misses count reads by key.
	hits, misses atomic.Uint64

	eventLag  prometheus.Observer
	unchanged map[string]prometheus.Counter
	lost      map[string]prometheus.Counter
	conflicts prometheus.Counter
	drops     map[string]prometheus.Counter

	// lists are the counters of list reads by index. Those of single indexes are created when they are first read.
	lists sync.Map

	mu sync.Mutex
	// ended is set when the last informer has ended and the series are deleted.
	ended    bool
	handlers map[string]*handlerMetrics
	indexes  []string
}

// handlerMetrics are the series of all handlers with the same name and informer labels.
type handlerMetrics struct {
	name     string
	uses     int
	duration prometheus.Observer
	panics   prometheus.Counter
}

func newMetrics(obs *core.Observer, l labels) *metrics {
	v := obs.Metrics
	m := &metrics{
		labels:     l,
		obs:        obs,
		connection: stream.NewMetrics(v, l.informerType, l.watchNamespace),
		checks:     checks.NewMetrics(v, l.informerType, l.watchNamespace),
		eventLag:   v.Histogram(catalog.InformerEventLag, l.with()...),
		unchanged:  v.CounterSet(catalog.InformerUnchangedUpdates, l.with()...),
		lost:       v.CounterSet(catalog.InformerEventsLost, l.with()...),
		conflicts:  v.Counter(catalog.InformerTransformConflicts, l.with()...),
		drops:      v.CounterSet(catalog.InformerTransformDrops, l.with()...),
		handlers:   map[string]*handlerMetrics{},
	}
	m.lists.Store(everything, v.Counter(catalog.InformerCacheLists, l.with(everything)...))
	return m
}

// end deletes the series. It is called when the last informer has ended.
func (m *metrics) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	for _, metric := range catalog.All() {
		if metric.Family == catalog.InformerLabelOverflow.Family || !strings.HasPrefix(metric.Name, "k8s_informer_") {
			continue // not a metric of informers
		}
		last := metric.Labels[len(metric.Labels)-1]
		if last.Name == catalog.LabelWatchNamespace.Name {
			m.obs.Metrics.Delete(metric, m.with()...)
		}
		for _, value := range last.Values {
			m.obs.Metrics.Delete(metric, m.with(value)...)
		}
	}
	// Labels without a closed set of values.
	m.obs.Metrics.Delete(catalog.InformerCacheLists.Metric, m.with(everything)...)
	for _, index := range m.indexes {
		m.obs.Metrics.Delete(catalog.InformerCacheLists.Metric, m.with(index)...)
		m.obs.Labels.Indexes.Release(index)
	}
	for _, h := range m.handlers { // added by an informer after its end
		for h.uses > 0 {
			m.release(h)
		}
	}
}

// countList counts a read of many objects through an index.
func (m *metrics) countList(index string) {
	if c, ok := m.lists.Load(index); ok {
		c.(prometheus.Counter).Inc()
		return
	}
	m.listCounter(index).Inc()
}

func (m *metrics) listCounter(index string) prometheus.Counter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.lists.Load(index); ok {
		return c.(prometheus.Counter)
	}
	if m.ended { // the store can still be read
		c := prometheus.NewCounter(prometheus.CounterOpts{})
		m.lists.Store(index, c)
		return c
	}
	label := m.obs.Labels.Indexes.Acquire(index)
	m.indexes = append(m.indexes, label)
	c := m.obs.Metrics.Counter(catalog.InformerCacheLists, m.with(label)...)
	m.lists.Store(index, c)
	return c
}

// acquireHandler returns the series of handlers with the given name. Each call must be matched by one of releaseHandler.
func (m *metrics) acquireHandler(name string) *handlerMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended { // a successor may have series with the same labels by now
		return &handlerMetrics{
			name:     name,
			duration: prometheus.NewHistogram(prometheus.HistogramOpts{Buckets: catalog.InformerHandlerDuration.Buckets}),
			panics:   prometheus.NewCounter(prometheus.CounterOpts{}),
		}
	}
	name = m.obs.Labels.Handlers.Acquire(name)
	h := m.handlers[name]
	if h == nil {
		h = &handlerMetrics{
			name:     name,
			duration: m.obs.Metrics.Histogram(catalog.InformerHandlerDuration, m.with(name)...),
			panics:   m.obs.Metrics.Counter(catalog.InformerHandlerPanics, m.with(name)...),
		}
		m.handlers[name] = h
	}
	h.uses++
	return h
}

// releaseHandler releases the result of acquireHandler, and deletes the series after the last use.
func (m *metrics) releaseHandler(h *handlerMetrics) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.uses > 0 { // otherwise it was acquired after the last informer had ended, or deleted with that informer
		m.release(h)
	}
}

// release is called with the lock held.
func (m *metrics) release(h *handlerMetrics) {
	m.obs.Labels.Handlers.Release(h.name)
	h.uses--
	if h.uses > 0 {
		return
	}
	delete(m.handlers, h.name)
	m.obs.Metrics.Delete(catalog.InformerHandlerDuration.Metric, m.with(h.name)...)
	m.obs.Metrics.Delete(catalog.InformerHandlerPanics.Metric, m.with(h.name)...)
}
