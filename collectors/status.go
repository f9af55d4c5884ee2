package collectors

import (
	"cmp"
	"slices"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// InformerStatus is the state of one informer at one moment, for status pages. The metrics say the same and more.
type InformerStatus struct {
	// ID is what the informer watches.
	ID ID
	// Started tells whether it has been run. What follows says nothing before.
	Started bool
	// Connection tells whether its connection to the API server is observed. If not, Connected, SyncLag, LastEvent and
	// Received are not known.
	Connection bool
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
	// WatchOpened is since when a watch is open, the zero time if none is.
	WatchOpened time.Time
	// Relists is how often a full state was taken in after the first.
	Relists uint64
	// LastAudit is what came of the last audit, if there are any.
	LastAudit AuditStatus
	// Received, Stored and Handled are the resourceVersions that were received last, that the store has, and that all
	// handlers have finished; 0 where none is known.
	Received, Stored, Handled uint64
	// Orphaned tells that the informer still runs although its context has ended.
	Orphaned bool
	// Handlers are the event handlers that are registered.
	Handlers []HandlerStatus
}

// AuditStatus is what came of an audit.
type AuditStatus struct {
	// Interval is how often there is one, 0 for never.
	Interval time.Duration
	// Paused tells that there are none now, because of Observer.PauseAudits.
	Paused bool
	// Result is a value of the label result of k8s_informer_audits_total, empty before the first audit, and before the first
	// one after a pause.
	Result string
	// At is when the audit ended, the zero time before the first.
	At time.Time
	// Differences is how many differences the last audit that could be made has found, those included that a second one
	// has not confirmed.
	Differences int
}

// HandlerStatus is the state of one event handler.
type HandlerStatus struct {
	// Name is the value of the label handler.
	Name string
	// Pending is the number of received events that it has not finished.
	Pending uint64
	// ResyncPeriod is how often it gets resyncs, 0 for never, negative if it is not known.
	ResyncPeriod time.Duration
	// LastResync is when it was given an object by a resync last, the zero time if it was not.
	LastResync time.Time
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

// SyncLag returns by how much the informer with the given ID is known to trail the API server: the most of those that have
// the ID and have not ended, 0 if there are none. It costs the state of these, and a look at the IDs of all others. It is
// safe for concurrent use.
func (o *Observer) SyncLag(id ID) (lag time.Duration) {
	for _, inf := range o.withID(id) {
		lag = max(lag, inf.status().SyncLag)
	}
	return lag
}

// withID returns the informers that have not ended of an ID.
func (o *Observer) withID(id ID) (found []*informer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, g := range o.groups { // not by labels: those of several IDs may be the same
		for _, inf := range g.members {
			if inf.id == id {
				found = append(found, inf)
			}
		}
	}
	return found
}

func (inf *informer) status() InformerStatus {
	now := inf.obs.now()
	src := &inf.source
	s := InformerStatus{
		ID:         inf.id,
		Started:    inf.hasStarted(),
		Connection: inf.listed,
		Synced:     inf.hasSynced(),
		Connected:  src.open.Load() > 0,
		Objects:    inf.objects(),
		LastSync:   time.Duration(inf.lastSync.Load()),
		LastEvent:  src.lastEventAt(),
		Relists:    src.relists.Load(),
		LastAudit:  inf.audits.status(inf.obs),
		Received:   src.received.Load(),
		Stored:     inf.storedVersion(),
		Orphaned:   inf.orphaned(),
	}
	if s.Connected {
		s.WatchOpened = inf.obs.wall(src.opened.Load())
	}
	oldest := src.unwatched()
	if stale := inf.staleSince(now); stale != 0 && (oldest == 0 || stale < oldest) {
		oldest = stale
	}
	if inf.listed && inf.indexer != nil {
		s.LastAudit.Interval = inf.checks.Audit
		s.LastAudit.Paused = !inf.obs.auditing.isOpen()
	}
	for i, h := range inf.currentHandlers() {
		pending, since := h.backlog()
		if pending > 0 && (oldest == 0 || since < oldest) {
			oldest = since
		}
		if finished := h.finished.Load(); i == 0 || finished < s.Handled {
			s.Handled = finished
		}
		s.Handlers = append(s.Handlers, h.status(pending))
	}
	if oldest != 0 {
		s.SyncLag = max(0, time.Duration(now-oldest))
	}
	return s
}

// waiting returns how many events the handler has not been given.
func (h *handler) waiting() uint64 {
	pending, _ := h.cursor.Backlog()
	if pending > 0 && h.cursor.Busy() {
		pending--
	}
	return pending
}

func (h *handler) status(pending uint64) HandlerStatus {
	s := HandlerStatus{Name: h.series.name, Pending: pending, ResyncPeriod: h.period}
	if at := h.resynced.Load(); at != 0 {
		s.LastResync = time.Unix(0, at)
	}
	return s
}

// storedVersion returns the resourceVersion of the store, 0 if it is unknown or no number. Like each reader of the cache
// it waits for a writer that is in it, and so for the index functions that the writer calls.
func (inf *informer) storedVersion() uint64 {
	if inf.store == nil {
		return 0
	}
	version, _ := rv.Parse(inf.store.LastStoreSyncResourceVersion())
	return version
}

// orphaned tells whether the informer runs although its context has ended.
func (inf *informer) orphaned() bool {
	ctx := inf.running.Load()
	return ctx != nil && (*ctx).Err() != nil
}

// hasStarted tells whether the informer has been run, or has asked the API server for something.
func (inf *informer) hasStarted() bool {
	return inf.started.Load() != 0 || inf.source.requested.Load()
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
	if inf.store != nil && (!inf.listed || inf.recount.Load()) {
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
