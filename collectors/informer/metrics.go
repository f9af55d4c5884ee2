package informer

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/reads"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
)

// Values of the label reason of k8s_informer_events_lost_total.
const (
	// lostStop is an event that was not delivered to a handler before the handler was removed.
	lostStop = "stop"
)

// Values of the label stage of k8s_informer_resource_version.
const (
	stageReceived = "received"
	stageStored   = "stored"
	stageHandled  = "handled"
)

// labels are the values of the labels that all metrics of an informer share.
type labels struct {
	informerType, watchNamespace string
}

// metrics are the series of all informers with the same labels: normally one, more if a program watches the same resource
// twice. The series of the hot path are resolved in advance, and a write after the end of the last informer has no effect.
type metrics struct {
	labels
	obs   *core.Observer
	scope *core.Scope

	connection *stream.Metrics
	checks     *checks.Metrics
	// reads counts reads by key.
	reads *reads.Counter

	eventLag prometheus.Observer
	updates  *updates
	lost     *core.CounterSet
	// unmeasured counts events with a receive time that was overwritten before a handler had finished with them.
	unmeasured prometheus.Counter
	// conflicts and drops exist once a transform is set.
	conflicts *core.LazyCounter
	drops     *core.CounterSet
	// indexErrors and earlyReads are created when they first increase.
	indexErrors, earlyReads *core.LazyCounter

	// lists are the counters of list reads by index, created when the index is first read.
	lists sync.Map

	mu sync.Mutex
	// ended is set when the last informer has ended and the series are deleted.
	ended    bool
	handlers map[string]*handlerMetrics
	indexes  []string
}

// handlerMetrics are the series of all handlers with the same name and informer labels.
type handlerMetrics struct {
	scope    *core.Scope
	name     string
	uses     int
	duration prometheus.Observer
	panics   prometheus.Counter
}

func newMetrics(obs *core.Observer, l labels) *metrics {
	scope := obs.Metrics.Scope(l.informerType, l.watchNamespace)
	return &metrics{
		labels:      l,
		obs:         obs,
		scope:       scope,
		connection:  stream.NewMetrics(scope, l.informerType, l.watchNamespace),
		checks:      checks.NewMetrics(scope),
		reads:       reads.NewCounter(),
		eventLag:    scope.Histogram(catalog.InformerEventLag),
		updates:     newUpdates(scope),
		lost:        scope.CounterSet(catalog.InformerEventsLost),
		unmeasured:  scope.Counter(catalog.InformerUnmeasuredEvents),
		conflicts:   scope.LazyCounter(catalog.InformerTransformConflicts),
		drops:       scope.CounterSet(catalog.InformerTransformDrops),
		indexErrors: scope.LazyCounter(catalog.InformerIndexErrors),
		earlyReads:  scope.LazyCounter(catalog.InformerUnsyncedReads),
		handlers:    map[string]*handlerMetrics{},
	}
}

// end deletes the series. It is called when the last informer has ended.
func (m *metrics) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	m.scope.End()
	for _, index := range m.indexes {
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
		return core.Discard
	}
	label := index
	if index != everything {
		label = m.obs.Labels.Indexes.Acquire(index)
		m.indexes = append(m.indexes, label)
	}
	c := m.scope.Counter(catalog.InformerCacheLists, label)
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
			duration: core.Discard,
			panics:   core.Discard,
		}
	}
	name = m.obs.Labels.Handlers.Acquire(name)
	h := m.handlers[name]
	if h == nil {
		scope := m.scope.Sub(name)
		h = &handlerMetrics{
			scope:    scope,
			name:     name,
			duration: scope.Histogram(catalog.InformerHandlerDuration),
			panics:   scope.Counter(catalog.InformerHandlerPanics),
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
	h.scope.End()
}
