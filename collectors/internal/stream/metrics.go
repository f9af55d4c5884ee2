package stream

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// Metrics are the series that connections with the same labels share. Those that most connections have are resolved in
// advance.
type Metrics struct {
	informerType, watchNamespace string

	syncs                   *core.ObserverSet
	relists                 *core.CounterSet
	listDuration, listItems prometheus.Observer
	listPages               *core.LazyCounter
	errors                  *core.CounterSet
	watches, timeouts       prometheus.Counter
	watchDuration           *core.LazyObserver
	disconnects             *core.CounterSet
	gap                     prometheus.Observer
	propagation             *core.LazyObserver
	regressions             prometheus.Counter
	events                  *core.CounterSet
	// foreign exists if the informer watches one namespace.
	foreign, unversioned *core.LazyCounter
}

// NewMetrics returns the series with the given values of the labels informer_type and watch_namespace. The caller closes
// the gate and deletes them.
func NewMetrics(v *core.Vectors, gate *core.Gate, informerType, watchNamespace string) *Metrics {
	l := []string{informerType, watchNamespace}
	return &Metrics{
		informerType: informerType, watchNamespace: watchNamespace,

		syncs:         v.ObserverSet(gate, catalog.InformerSyncDuration, l...),
		relists:       v.CounterSet(gate, catalog.InformerRelists, l...),
		listDuration:  v.Summary(catalog.InformerListDuration, l...),
		listItems:     v.Summary(catalog.InformerListItems, l...),
		listPages:     v.LazyCounter(gate, catalog.InformerListPages, l...),
		errors:        v.CounterSet(gate, catalog.InformerSyncErrors, l...),
		watches:       v.Counter(catalog.InformerWatches, l...),
		timeouts:      v.Counter(catalog.InformerWatchTimeouts, l...),
		watchDuration: v.LazySummary(gate, catalog.InformerWatchDuration, l...),
		disconnects:   v.CounterSet(gate, catalog.InformerWatchDisconnects, l...),
		gap:           v.Histogram(catalog.InformerCoverageGap, l...),
		propagation:   v.LazySummary(gate, catalog.InformerPropagation, l...),
		regressions:   v.Counter(catalog.InformerResourceVersionRegressions, l...),
		events:        v.CounterSet(gate, catalog.InformerWatchEvents, l...),
		foreign:       v.LazyCounter(gate, catalog.InformerForeignObjects, l...),
		unversioned:   v.LazyCounter(gate, catalog.InformerUnversionedObjects, l...),
	}
}

// countEvent counts an event of a watch. Types that client-go does not know are not counted, because client-go ignores them too.
func (m *Metrics) countEvent(t watch.EventType) {
	switch t {
	case watch.Added:
		m.events.Inc(EventAdded)
	case watch.Modified:
		m.events.Inc(EventModified)
	case watch.Deleted:
		m.events.Inc(EventDeleted)
	case watch.Bookmark:
		m.events.Inc(EventBookmark)
	case watch.Error:
		m.events.Inc(EventError)
	}
}
