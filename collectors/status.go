package collectors

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// InformerStatus is the state of one informer at one moment, for status pages. The metrics say the same and more.
type InformerStatus struct {
	// ID is what the informer watches.
	ID ID
	// Synced tells whether it has taken in a first full state.
	Synced bool
	// Connected tells whether a watch is open.
	Connected bool
	// Objects is the number of objects in the cache.
	Objects int
	// SyncLag is by how much the informer is known to trail the API server.
	SyncLag time.Duration
	// LastSync is how long the last successful sync took, 0 before the first.
	LastSync time.Duration
	// LastEvent is when something was received last, the zero time if nothing was.
	LastEvent time.Time
	// Handlers are the event handlers that are registered.
	Handlers []HandlerStatus
}

// HandlerStatus is the state of one event handler.
type HandlerStatus struct {
	// Name is the value of the label handler.
	Name string
	// Pending is the number of received events that it has not finished.
	Pending uint64
}

// Informers returns the state of all informers that have not ended, ordered by type and namespace. It costs about as
// much as a scrape.
func (o *Observer) Informers() []InformerStatus {
	var all []InformerStatus
	for _, g := range o.snapshot() {
		for _, inf := range g.members {
			all = append(all, inf.status())
		}
	}
	slices.SortFunc(all, func(a, b InformerStatus) int {
		return cmp.Or(cmp.Compare(a.ID.Type(), b.ID.Type()), cmp.Compare(a.ID.Namespace, b.ID.Namespace))
	})
	return all
}

func (inf *informer) status() InformerStatus {
	now := inf.obs.now()
	src := &inf.source
	s := InformerStatus{
		ID:        inf.id,
		Synced:    inf.hasSynced(),
		Connected: src.open.Load() > 0,
		Objects:   inf.objects(),
		LastSync:  time.Duration(inf.lastSync.Load()),
		LastEvent: src.lastEventAt(),
	}
	oldest := src.lost.Load()
	for _, h := range inf.currentHandlers() {
		pending, since := h.backlog()
		if pending > 0 && (oldest == 0 || since < oldest) {
			oldest = since
		}
		s.Handlers = append(s.Handlers, HandlerStatus{Name: h.series.name, Pending: pending})
	}
	if oldest != 0 {
		s.SyncLag = max(0, time.Duration(now-oldest))
	}
	return s
}

// hasSynced tells whether a first full state has been taken in.
func (inf *informer) hasSynced() bool {
	if inf.synced != nil {
		return inf.synced()
	}
	return inf.source.epoch.Load() != nil
}

// objects returns how many objects the cache holds. Counting them in the store costs time and memory in proportion to
// their number, so that the count of the events is preferred as long as every event reaches the store.
func (inf *informer) objects() int {
	if inf.store != nil && (!inf.listed || inf.dropped.Load()) {
		return len(inf.store.ListKeys())
	}
	return int(inf.source.objects.Load())
}

// backlog returns how many events the handler has not finished, and when the oldest was received.
func (h *handler) backlog() (pending uint64, oldest int64) {
	pending, oldest = h.cursor.Backlog()
	if listed := h.listed.Load(); listed != 0 {
		if pending == 0 || listed < oldest {
			oldest = listed
		}
		pending++
	}
	return pending, oldest
}

// collect sends what a group reads at the time of the scrape. Where a program has several informers with the same labels, they are reported
// as one: what they hold is added up, and the worst state counts.
func (g groupView) collect(ch chan<- prometheus.Metric) {
	total := InformerStatus{Synced: true, Connected: true}
	pending := map[string]uint64{}
	handlers := 0
	for _, inf := range g.members {
		s := inf.status()
		total.Synced = total.Synced && s.Synced
		total.Connected = total.Connected && s.Connected
		total.Objects += s.Objects
		total.SyncLag = max(total.SyncLag, s.SyncLag)
		total.LastSync = max(total.LastSync, s.LastSync)
		if s.LastEvent.After(total.LastEvent) {
			total.LastEvent = s.LastEvent
		}
		handlers += len(s.Handlers)
		for _, h := range s.Handlers {
			pending[h.Name] += h.Pending
		}
	}
	send := func(m catalog.Metric, value float64, more ...string) {
		ch <- g.obs.vecs.sample(m, value, g.with(more...)...)
	}
	send(catalog.InformerCacheHits, float64(g.hits.Load()))
	send(catalog.InformerCacheMisses, float64(g.misses.Load()))
	send(catalog.InformerSynced, truth(total.Synced))
	send(catalog.InformerWatchConnected, truth(total.Connected))
	send(catalog.InformerObjects, float64(total.Objects))
	send(catalog.InformerSyncLag, total.SyncLag.Seconds())
	send(catalog.InformerLastSyncDuration, total.LastSync.Seconds())
	send(catalog.InformerLastEventTimestamp, unix(total.LastEvent))
	send(catalog.InformerHandlers, float64(handlers))
	for name, n := range pending {
		send(catalog.InformerHandlerPending, float64(n), name)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// unix returns seconds since the epoch, 0 for the zero time.
func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixNano()) / 1e9
}
