package stream

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// Metrics are the series that connections with the same labels share. All are resolved in advance, so that the hot path
// looks up no label.
type Metrics struct {
	syncSuccess, syncError   prometheus.Observer
	relists                  map[string]prometheus.Counter
	listDuration, listItems  prometheus.Observer
	listPages                prometheus.Counter
	errors                   map[string]prometheus.Counter
	watches, timeouts        prometheus.Counter
	watchDuration            prometheus.Observer
	disconnects              map[string]prometheus.Counter
	gap, propagation         prometheus.Observer
	regressions              prometheus.Counter
	added, modified, deleted prometheus.Counter
	bookmarks, errorEvents   prometheus.Counter
}

// NewMetrics returns the series with the given values of the labels informer_type and watch_namespace. The caller
// deletes them.
func NewMetrics(v *core.Vectors, informerType, watchNamespace string) *Metrics {
	with := func(more ...string) []string { return append([]string{informerType, watchNamespace}, more...) }
	events := v.CounterSet(catalog.InformerWatchEvents, with()...)
	return &Metrics{
		syncSuccess:   v.Histogram(catalog.InformerSyncDuration, with(resultSuccess)...),
		syncError:     v.Histogram(catalog.InformerSyncDuration, with(resultError)...),
		relists:       v.CounterSet(catalog.InformerRelists, with()...),
		listDuration:  v.Histogram(catalog.InformerListDuration, with()...),
		listItems:     v.Histogram(catalog.InformerListItems, with()...),
		listPages:     v.Counter(catalog.InformerListPages, with()...),
		errors:        v.CounterSet(catalog.InformerSyncErrors, with()...),
		watches:       v.Counter(catalog.InformerWatches, with()...),
		timeouts:      v.Counter(catalog.InformerWatchTimeouts, with()...),
		watchDuration: v.Histogram(catalog.InformerWatchDuration, with()...),
		disconnects:   v.CounterSet(catalog.InformerWatchDisconnects, with()...),
		gap:           v.Histogram(catalog.InformerCoverageGap, with()...),
		propagation:   v.Histogram(catalog.InformerPropagation, with()...),
		regressions:   v.Counter(catalog.InformerResourceVersionRegressions, with()...),
		added:         events[EventAdded],
		modified:      events[EventModified],
		deleted:       events[EventDeleted],
		bookmarks:     events[EventBookmark],
		errorEvents:   events[EventError],
	}
}

// countEvent counts an event of a watch. Types that client-go does not know are left out, as client-go ignores them too.
func (m *Metrics) countEvent(t watch.EventType) {
	switch t {
	case watch.Added:
		m.added.Inc()
	case watch.Modified:
		m.modified.Inc()
	case watch.Deleted:
		m.deleted.Inc()
	case watch.Bookmark:
		m.bookmarks.Inc()
	case watch.Error:
		m.errorEvents.Inc()
	}
}
