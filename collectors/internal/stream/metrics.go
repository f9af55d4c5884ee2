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

// NewMetrics returns the series of a scope with the given values of the labels informer_type and watch_namespace.
func NewMetrics(scope *core.Scope, informerType, watchNamespace string) *Metrics {
	return &Metrics{
		informerType: informerType, watchNamespace: watchNamespace,

		syncs:         scope.ObserverSet(catalog.InformerSyncDuration),
		relists:       scope.CounterSet(catalog.InformerRelists),
		listDuration:  scope.Summary(catalog.InformerListDuration),
		listItems:     scope.Summary(catalog.InformerListItems),
		listPages:     scope.LazyCounter(catalog.InformerListPages),
		errors:        scope.CounterSet(catalog.InformerSyncErrors),
		watches:       scope.Counter(catalog.InformerWatches),
		timeouts:      scope.Counter(catalog.InformerWatchTimeouts),
		watchDuration: scope.LazySummary(catalog.InformerWatchDuration),
		disconnects:   scope.CounterSet(catalog.InformerWatchDisconnects),
		gap:           scope.Histogram(catalog.InformerCoverageGap),
		propagation:   scope.LazySummary(catalog.InformerPropagation),
		regressions:   scope.Counter(catalog.InformerResourceVersionRegressions),
		events:        scope.CounterSet(catalog.InformerWatchEvents),
		foreign:       scope.LazyCounter(catalog.InformerForeignObjects),
		unversioned:   scope.LazyCounter(catalog.InformerUnversionedObjects),
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
