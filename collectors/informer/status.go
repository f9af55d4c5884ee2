package informer

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// Status is a snapshot of the state of one informer, for status pages. The metrics have the same information, and more.
type Status struct {
	// ID identifies the informer.
	ID ID
	// Started reports whether the informer has been run or, for a bare Reflector, has sent a request. Until then, the other
	// fields are not valid.
	Started bool
	// Connection reports whether the informer's connection to the API server is observed. If not, Connected, SyncLag, LastEvent
	// and Received are unknown.
	Connection bool
	// Synced reports whether the initial sync is complete.
	Synced bool
	// Connected reports whether a watch is open and has shown that it is up.
	Connected bool
	// Objects is the number of objects in the cache.
	Objects int
	// SyncLag is the time by which the informer is known to be behind the API server.
	SyncLag time.Duration
	// Degraded reports whether SyncLag, or the lag of an event that a handler has finished, is above its objective or was within the last
	// 30 seconds: see collectors.Options.Objectives. It is computed for each Status and scrape.
	Degraded bool
	// LastSync is the duration of the last successful sync, 0 before the first.
	LastSync time.Duration
	// LastEvent is when the last event, bookmark or list was received, the zero time before the first.
	LastEvent time.Time
	// WatchOpened is when the current watch was opened, the zero time if none is open.
	WatchOpened time.Time
	// Failures is the number of consecutive failed lists and watches, 0 once a watch has been open for a second.
	Failures int
	// Relists is the number of complete lists after the first.
	Relists uint64
	// LastAudit is the outcome of the last audit.
	LastAudit AuditStatus
	// Received, Stored and Handled are the resourceVersion that was received last, that of the store, and the one that all
	// handlers have finished; 0 if unknown.
	Received, Stored, Handled uint64
	// Orphaned reports whether the informer still runs although its context has ended.
	Orphaned bool
	// Handlers are the event handlers that are registered.
	Handlers []HandlerStatus

	storeLag time.Duration
}

// AuditStatus is the state of the audits of an informer.
type AuditStatus struct {
	// Interval is the time between two audits, 0 if there are none.
	Interval time.Duration
	// Paused reports whether PauseAudits has stopped the audits.
	Paused bool
	// Result is a value of the label result of k8s_informer_audits_total, empty before the first audit and before the first
	// one after a pause.
	Result string
	// At is when the last audit ended, the zero time before the first.
	At time.Time
	// Differences is the number of differences that the last completed audit found, confirmed or not.
	Differences int
}

// HandlerStatus is the state of one event handler.
type HandlerStatus struct {
	// Name is the value of the label handler.
	Name string
	// Pending is the number of received events that the handler has not finished.
	Pending uint64
	// ResyncPeriod is 0 for never, negative if unknown.
	ResyncPeriod time.Duration
	// LastResync is when the handler last got an object from a resync, the zero time if never.
	LastResync time.Time
}

// Statuses returns the state of all informers that have not ended, ordered by type and namespace. It costs about as much as a
// scrape, and is safe for concurrent use.
func Statuses(obs *collectors.Observer) []Status {
	var all []Status
	informers := registryOf(obs).informers.Owners()
	readStores(informers)
	for _, inf := range informers {
		all = append(all, inf.status())
	}
	slices.SortFunc(all, func(a, b Status) int {
		return cmp.Or(cmp.Compare(a.ID.Type(), b.ID.Type()), cmp.Compare(a.ID.Namespace, b.ID.Namespace))
	})
	return all
}

// SyncLag returns the time by which the informer with the given ID is known to be behind the API server. It returns the longest
// time if several informers have the ID, and 0 if there is none. Informers that have ended do not count. It compares the IDs of
// all informers, and is safe for concurrent use.
func SyncLag(obs *collectors.Observer, id ID) (lag time.Duration) {
	informers := slices.DeleteFunc(registryOf(obs).informers.Owners(), func(inf *informer) bool { return inf.id != id })
	readStores(informers)
	for _, inf := range informers {
		lag = max(lag, inf.status().SyncLag)
	}
	return lag
}

// status returns the state of the informer. It uses the state of the store as readStores last read it.
func (inf *informer) status() Status {
	now := inf.shared.Now()
	c := inf.connection
	s := Status{
		ID:         inf.id,
		Started:    c.Started(),
		Connection: inf.lister != nil,
		Synced:     inf.stored.synced.Load(),
		Connected:  c.Open(),
		Objects:    int(inf.stored.objects.Load()),
		LastSync:   c.LastSync(),
		LastEvent:  c.LastReceipt(),
		Failures:   int(c.Failures()),
		Relists:    c.Relists(),
		LastAudit:  inf.auditStatus(),
		Received:   c.Received(),
		Stored:     inf.stored.version.Load(),
		Orphaned:   inf.orphaned(),
	}
	s.WatchOpened = c.OpenedTime()
	oldest := c.DownSince()
	if stale := inf.checks.StaleSince(now, s.Stored); stale != 0 && (oldest == 0 || stale < oldest) {
		oldest = stale
	}
	if at, behind := inf.unstored(s.Stored); behind {
		s.storeLag = max(0, time.Duration(now-at))
		if oldest == 0 || at < oldest {
			oldest = at
		}
	}
	for i, h := range inf.currentHandlers() {
		pending, since := h.backlog()
		if pending > 0 && (oldest == 0 || since < oldest) {
			oldest = since
		}
		if handled := h.handled.Load(); i == 0 || handled < s.Handled {
			s.Handled = handled
		}
		s.Handlers = append(s.Handlers, h.status(pending))
	}
	if oldest != 0 {
		s.SyncLag = max(0, time.Duration(now-oldest))
	}
	inf.health.check(now, s.SyncLag, inf.shared.Objectives.SyncLag)
	s.Degraded = inf.health.degraded(now)
	return s
}

// unstored returns when the oldest event that is not in the store was received, given the version of the store.
func (inf *informer) unstored(stored uint64) (at int64, behind bool) {
	if stored != 0 { // synced, and a number
		at, behind = inf.connection.Ring.After(stored)
	}
	return at, behind
}

func (inf *informer) auditStatus() AuditStatus {
	last := inf.checks.AuditStatus()
	s := AuditStatus{Result: last.Result, At: last.At, Differences: last.Differences}
	if inf.lister != nil && inf.indexer != nil {
		s.Interval = inf.checks.Intervals.Audit
		s.Paused = !inf.shared.checks.Auditing.IsOpen()
	}
	return s
}

// orphaned reports whether the informer runs although its context has ended.
func (inf *informer) orphaned() bool {
	ctx := inf.running.Load()
	return ctx != nil && (*ctx).Err() != nil
}

func (h *handler) status(pending uint64) HandlerStatus {
	s := HandlerStatus{Name: h.handlerMetrics.name, Pending: pending, ResyncPeriod: h.resyncPeriod}
	if at := h.lastResync.Load(); at != 0 {
		s.LastResync = time.Unix(0, at)
	}
	return s
}

// storePatience is how long a scrape waits for the stores of all informers before it skips the one that it waits for. Reading them
// takes microseconds, unless a writer hangs or objects are counted in large stores.
const storePatience = 2 * time.Second

// stored is the state of an informer's store as last read. Reading waits for the writer of the store, and thereby for the index
// functions of the program that the writer calls.
type stored struct {
	synced  atomic.Bool
	objects atomic.Int64
	version atomic.Uint64
	// reader is the pass that has waited too long for this store, if any.
	reader atomic.Pointer[pass]
}

// readStores reads the stores of informers. A store that does not respond is skipped until it does, at the cost of storePatience
// once: while its writer hangs, its last known state is still the current one.
func readStores(informers []*informer) {
	patience := time.NewTimer(storePatience)
	defer patience.Stop()
	for len(informers) > 0 {
		p := &pass{informers: informers, done: make(chan struct{})}
		go p.run()
		select {
		case <-p.done:
			return
		case <-patience.C:
		}
		n := p.n.Load()
		if n < int64(len(informers)) {
			informers[n].stored.reader.Store(p)
			n++
		}
		informers = informers[n:]
		patience.Reset(storePatience)
	}
}

// pass reads the stores of informers, one after the other.
type pass struct {
	informers []*informer
	n         atomic.Int64 // the number of stores that have been read
	done      chan struct{}
}

func (p *pass) run() {
	defer close(p.done)
	for _, inf := range p.informers {
		inf.readStore()
		p.n.Add(1)
	}
}

// waitsFor reports whether the pass has not finished reading the store of an informer.
func (p *pass) waitsFor(inf *informer) bool {
	n := p.n.Load()
	return n < int64(len(p.informers)) && p.informers[n] == inf
}

func (inf *informer) readStore() {
	if p := inf.stored.reader.Load(); p != nil {
		if p.waitsFor(inf) {
			return
		}
		inf.stored.reader.CompareAndSwap(p, nil) // it keeps all informers of its scrape in memory
	}
	inf.stored.synced.Store(inf.synced())
	inf.stored.version.Store(inf.storedVersion())
	inf.stored.objects.Store(int64(inf.objects()))
}

// synced reports whether the initial sync is complete.
func (inf *informer) synced() bool {
	if inf.connection.StoreSynced != nil {
		return inf.connection.StoreSynced()
	}
	return inf.connection.LastList() != nil
}

// objects returns the number of objects in the cache. Counting them in the store takes time and memory in proportion to
// their number. Therefore the count from events is preferred as long as every event reaches the store.
func (inf *informer) objects() int {
	n, exact := inf.connection.Objects()
	if inf.store != nil && (inf.lister == nil || !exact) {
		return len(inf.store.ListKeys())
	}
	return n
}

// storedVersion returns the resourceVersion of the store, 0 if it is unknown or not a number.
func (inf *informer) storedVersion() uint64 {
	if inf.store == nil {
		return 0
	}
	version, _ := rv.Parse(inf.store.LastStoreSyncResourceVersion())
	return version
}
