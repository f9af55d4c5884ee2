package collectors

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// labels are the values of the labels that all metrics of an informer share.
type labels struct {
	informerType, namespace string
}

func (l labels) with(more ...string) []string {
	return append([]string{l.informerType, l.namespace}, more...)
}

// valid returns a name as the value of a label. client_golang panics at values that are no UTF-8.
func valid(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// group holds the series of all informers with the same labels: normally one, more if a program watches the same thing
// twice. Every series is resolved when the group is made, so that no label is looked up on a hot path, and a write that
// comes after the group has been deleted goes nowhere.
type group struct {
	obs *Observer
	labels

	// hits and misses count reads by key.
	hits, misses atomic.Uint64

	syncSuccess, syncFail   prometheus.Observer
	relists                 map[string]prometheus.Counter
	listDuration, listItems prometheus.Observer
	errors                  map[string]prometheus.Counter
	watches, timeouts       prometheus.Counter
	watchDuration           prometheus.Observer
	disconnects             map[string]prometheus.Counter
	gap                     prometheus.Observer
	eventLag, propagation   prometheus.Observer
	listPages               prometheus.Counter
	regressions             prometheus.Counter
	unchanged               map[string]prometheus.Counter
	lost                    map[string]prometheus.Counter
	conflicts               prometheus.Counter
	drops                   map[string]prometheus.Counter
	freshness               map[string]prometheus.Counter
	audits                  map[string]prometheus.Counter
	auditDuration           prometheus.Observer
	collisions              prometheus.Counter
	mutations               prometheus.Counter

	added, modified, deleted, bookmarks, failures prometheus.Counter

	// lists are the counters of list reads by index. Those of single indexes are made when they are first read.
	lists sync.Map

	// Guarded by Observer.mu.
	uses     int
	members  []*informer
	handlers map[string]*handlerSeries
	indexes  []string
}

// handlerSeries are the series of all handlers of a group with the same name.
type handlerSeries struct {
	name     string
	uses     int
	duration prometheus.Observer
	panics   prometheus.Counter
}

// join returns the group of informers with the given ID. Each call must be matched by one of leave.
func (o *Observer) join(id ID) *group {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := labels{o.types.Acquire(valid(id.Type())), o.namespaces.Acquire(valid(id.Scope()))}
	g := o.groups[l]
	if g == nil {
		g = o.newGroup(l)
		o.groups[l] = g
	}
	g.uses++
	return g
}

// publish lets scrapes see an informer, which must not be changed any more except through its atomics and locks.
func (o *Observer) publish(inf *informer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	inf.group.members = append(inf.group.members, inf)
}

// leave removes a published informer from its group, and the group's series with the last one.
func (o *Observer) leave(inf *informer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	g := inf.group
	at := slices.Index(g.members, inf)
	if at < 0 {
		return
	}
	g.members = slices.Delete(g.members, at, at+1)
	o.types.Release(g.informerType)
	o.namespaces.Release(g.namespace)
	if g.uses--; g.uses > 0 {
		return
	}
	delete(o.groups, g.labels)
	o.vecs.forgetAll(g.labels)
	o.vecs.forget(catalog.InformerCacheLists, g.with(everything)...)
	for _, index := range g.indexes {
		o.vecs.forget(catalog.InformerCacheLists, g.with(index)...)
		o.indexes.Release(index)
	}
	for _, h := range g.handlers { // of an informer that took them after its end
		for h.uses > 0 {
			g.release(h)
		}
	}
}

func (o *Observer) newGroup(l labels) *group {
	v := o.vecs
	events := v.counterSet(catalog.InformerWatchEvents, l.with()...)
	g := &group{
		obs:           o,
		labels:        l,
		syncSuccess:   v.histogram(catalog.InformerSyncDuration, l.with(catalog.ResultSuccess)...),
		syncFail:      v.histogram(catalog.InformerSyncDuration, l.with(catalog.ResultFail)...),
		relists:       v.counterSet(catalog.InformerRelists, l.with()...),
		listDuration:  v.histogram(catalog.InformerListDuration, l.with()...),
		listItems:     v.histogram(catalog.InformerListItems, l.with()...),
		errors:        v.counterSet(catalog.InformerSyncErrors, l.with()...),
		watches:       v.counter(catalog.InformerWatches, l.with()...),
		timeouts:      v.counter(catalog.InformerWatchTimeouts, l.with()...),
		watchDuration: v.histogram(catalog.InformerWatchDuration, l.with()...),
		disconnects:   v.counterSet(catalog.InformerWatchDisconnects, l.with()...),
		gap:           v.histogram(catalog.InformerCoverageGap, l.with()...),
		eventLag:      v.histogram(catalog.InformerEventLag, l.with()...),
		propagation:   v.histogram(catalog.InformerPropagation, l.with()...),
		listPages:     v.counter(catalog.InformerListPages, l.with()...),
		regressions:   v.counter(catalog.InformerResourceVersionRegressions, l.with()...),
		unchanged:     v.counterSet(catalog.InformerUnchangedUpdates, l.with()...),
		lost:          v.counterSet(catalog.InformerEventsLost, l.with()...),
		conflicts:     v.counter(catalog.InformerTransformConflicts, l.with()...),
		drops:         v.counterSet(catalog.InformerTransformDrops, l.with()...),
		freshness:     v.counterSet(catalog.InformerFreshnessChecks, l.with()...),
		audits:        v.counterSet(catalog.InformerAudits, l.with()...),
		auditDuration: v.histogram(catalog.InformerAuditDuration, l.with()...),
		collisions:    v.counter(catalog.InformerKeyCollisions, l.with()...),
		mutations:     v.counter(catalog.InformerMutations, l.with()...),
		added:         events[catalog.EventAdded],
		modified:      events[catalog.EventModified],
		deleted:       events[catalog.EventDeleted],
		bookmarks:     events[catalog.EventBookmark],
		failures:      events[catalog.EventError],
		handlers:      map[string]*handlerSeries{},
	}
	g.lists.Store(everything, v.counter(catalog.InformerCacheLists, l.with(everything)...))
	return g
}

// countEvent counts an event of a watch. Types that client-go does not know are left out, as it ignores them too.
func (g *group) countEvent(t watch.EventType) {
	switch t {
	case watch.Added:
		g.added.Inc()
	case watch.Modified:
		g.modified.Inc()
	case watch.Deleted:
		g.deleted.Inc()
	case watch.Bookmark:
		g.bookmarks.Inc()
	case watch.Error:
		g.failures.Inc()
	}
}

// countList counts a read of many objects through an index.
func (g *group) countList(index string) {
	if c, ok := g.lists.Load(index); ok {
		c.(prometheus.Counter).Inc()
		return
	}
	g.listCounter(index).Inc()
}

func (g *group) listCounter(index string) prometheus.Counter {
	g.obs.mu.Lock()
	defer g.obs.mu.Unlock()
	if c, ok := g.lists.Load(index); ok {
		return c.(prometheus.Counter)
	}
	if g.uses == 0 {
		// The informer has ended and its series are gone; its store can still be read.
		c := prometheus.NewCounter(prometheus.CounterOpts{})
		g.lists.Store(index, c)
		return c
	}
	label := g.obs.indexes.Acquire(valid(index))
	g.indexes = append(g.indexes, label)
	c := g.obs.vecs.counter(catalog.InformerCacheLists, g.with(label)...)
	g.lists.Store(index, c)
	return c
}

// acquireHandler returns the series of handlers with the given name.
func (g *group) acquireHandler(name string) *handlerSeries {
	g.obs.mu.Lock()
	defer g.obs.mu.Unlock()
	if g.uses == 0 {
		// The informer has ended. A successor may have series with the same labels by now.
		m := catalog.InformerHandlerDuration
		return &handlerSeries{
			name:     name,
			duration: prometheus.NewHistogram(prometheus.HistogramOpts{Buckets: m.Buckets}),
			panics:   prometheus.NewCounter(prometheus.CounterOpts{}),
		}
	}
	name = g.obs.handlers.Acquire(valid(name))
	h := g.handlers[name]
	if h == nil {
		h = &handlerSeries{
			name:     name,
			duration: g.obs.vecs.histogram(catalog.InformerHandlerDuration, g.with(name)...),
			panics:   g.obs.vecs.counter(catalog.InformerHandlerPanics, g.with(name)...),
		}
		g.handlers[name] = h
	}
	h.uses++
	return h
}

// releaseHandler gives back what acquireHandler returned, and deletes the series with the last use.
func (g *group) releaseHandler(h *handlerSeries) {
	g.obs.mu.Lock()
	defer g.obs.mu.Unlock()
	if h.uses > 0 { // else it was made after the last informer had ended, or deleted with it
		g.release(h)
	}
}

// release is called with the Observer's lock held.
func (g *group) release(h *handlerSeries) {
	g.obs.handlers.Release(h.name)
	h.uses--
	if h.uses > 0 {
		return
	}
	delete(g.handlers, h.name)
	g.obs.vecs.forget(catalog.InformerHandlerDuration, g.with(h.name)...)
	g.obs.vecs.forget(catalog.InformerHandlerPanics, g.with(h.name)...)
}

// groupView is what a scrape reads of a group without holding a lock.
type groupView struct {
	*group
	members []*informer
}

// snapshot returns the groups as they are now.
func (o *Observer) snapshot() []groupView {
	o.mu.Lock()
	defer o.mu.Unlock()
	views := make([]groupView, 0, len(o.groups))
	for _, g := range o.groups {
		views = append(views, groupView{g, slices.Clone(g.members)})
	}
	return views
}
