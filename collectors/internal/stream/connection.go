package stream

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/collectors/internal/ring"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// Connection is the state of an informer's connection to the API server: which list or watch is in progress, why, and
// how long there has been none. A decorated ListerWatcher writes it; handlers, checks and scrapes read it through its
// methods, which are safe for concurrent use and take no lock, except for the first call after a watch has been open for a second.
//
// A LIST and a streaming list (KEP-3157) are treated alike: the stream is a list until the bookmark that ends its initial
// events, and a watch after it.
type Connection struct {
	// Ring remembers the events that were received last.
	Ring *ring.Ring
	// Echo has the resourceVersion that was received last, and the program's own writes.
	Echo *echo.Watch
	// StoreSynced reports whether the store has its initial state. It is nil if no store is observed, and set before the
	// first request.
	StoreSynced func() bool

	// panicked guards the log line about the first event that could not be observed.
	panicked sync.Once

	clock   *core.Observer
	metrics *Metrics
	// namespace is the only namespace that is watched, empty for all.
	namespace string

	// started is when the informer was run, or 0 if it was not.
	started atomic.Int64
	// requested is set by the first list or watch.
	requested atomic.Bool
	// lastSync is the duration of the last successful sync in nanoseconds.
	lastSync atomic.Int64
	// lastList is the last complete list.
	lastList atomic.Pointer[List]
	// relists is the number of complete lists after the first.
	relists atomic.Uint64
	// objects is the number of objects after the last list and the events since.
	objects atomic.Int64
	// miscounted is set when objects may differ from the store.
	miscounted atomic.Bool
	// lastReceipt is when data was last received, or 0 if none was, other than events that the ring remembers: each store takes time.
	lastReceipt atomic.Int64
	// lastReceiptTime is ReceivedAt as a wall clock time, as computed by a scrape.
	lastReceiptTime atomic.Pointer[timestamp]
	// up is the number of open watches that have shown that they are up.
	up atomic.Int32
	// unproven is the last watch that was opened, until it has shown that it is up, or has ended.
	unproven atomic.Pointer[watchProxy]
	// transforms is the number of calls of Transformed and TransformFailed.
	transforms atomic.Int64
	// lastTransform is the value of transforms after the last object of a list, 0 unless a list is being transformed.
	lastTransform atomic.Int64
	// opened is when the last watch that was up was opened and up to date, 0 before the first.
	opened atomic.Int64
	// openedTime is the wall clock time at which the last watch was opened.
	openedTime atomic.Pointer[time.Time]
	// closed is when the last watch that was up ended or was last known to be alive, 0 while one is up and before the first.
	closed atomic.Int64
	// fresh is the last time for which a check has shown that nothing was missing, 0 before the first.
	fresh atomic.Int64
	// failures is the number of consecutive failed lists and watches.
	failures atomic.Int64

	mu sync.Mutex
	// syncBegin is when the sync in progress became necessary, 0 if there is none.
	syncBegin int64
	// list is the list in progress.
	list listProgress
	// listed is the number of objects of the last list, except for those for which the Transform failed. nils is the number of
	// listed objects that the Transform has turned into nil.
	listed, nils int
	// firstTransform is the value of transforms at the start of the last list.
	firstTransform int64
	// transformErrors is the number of errors of the Transform since then, until the end of the list.
	transformErrors int
	// listLost is called with the number of objects of a list that were lost because of others; nil without a Transform.
	listLost func(objects int)
	// fallback is set when the server rejected the streaming list of this sync.
	fallback bool
	// lastEnd is how the last watch ended, or why none could be opened.
	lastEnd watchEnd
}

// List is a complete list.
type List struct {
	// Version is its resourceVersion, 0 if that is not a number.
	Version uint64
	// At is the time at which it was complete, by the Observer's clock.
	At int64
	// Span is the zero value unless the list has a span.
	Span spans.SpanContext
}

// timestamp is a time of the Observer's clock with its wall clock time.
type timestamp struct {
	at   int64
	time time.Time
}

// New returns a Connection without any request. The Observer's options set how many events it remembers.
func New(obs *core.Observer, metrics *Metrics) *Connection {
	r := ring.New(obs.RememberedEvents)
	return &Connection{Ring: r, Echo: echo.New(r), clock: obs, metrics: metrics}
}

// Start records that the informer has been started.
func (c *Connection) Start() { c.started.Store(c.clock.Now()) }

// InitialSync records that the store has its initial state for the first time since Start.
func (c *Connection) InitialSync() { c.synced(c.clock.Now() - c.started.Load()) }

// synced records the duration of a successful sync.
func (c *Connection) synced(nanoseconds int64) {
	c.lastSync.Store(nanoseconds)
	c.metrics.syncs.Observe(resultSuccess, core.Seconds(nanoseconds))
}

// Started reports whether the informer was run or has sent a request.
func (c *Connection) Started() bool { return c.started.Load() != 0 || c.requested.Load() }

// LastSync returns the duration of the last successful sync, 0 before the first.
func (c *Connection) LastSync() time.Duration { return time.Duration(c.lastSync.Load()) }

// LastList returns the last complete list, nil before the first.
func (c *Connection) LastList() *List { return c.lastList.Load() }

// Relists returns the number of complete lists after the first.
func (c *Connection) Relists() uint64 { return c.relists.Load() }

// Received returns the resourceVersion that was received last, 0 if none was a number.
func (c *Connection) Received() uint64 { return c.Echo.Version.Load() }

// Objects returns the number of objects according to lists and events. It reports false if the store may hold another
// number, because a Transform dropped or renamed objects or because a watch without a resourceVersion sent known objects
// again.
func (c *Connection) Objects() (n int, exact bool) {
	return int(c.objects.Load()), !c.miscounted.Load()
}

// Miscount makes Objects report false from now on.
func (c *Connection) Miscount() { c.miscounted.Store(true) }

// Open reports whether a watch is up. An API server that has restarted answers the watch of an idle resource with 200, and then
// sends the error 410: after a failure, a watch is up once it has delivered an event or a bookmark, or was open for a second.
// A watch that follows a planned end counts as up from the start.
func (c *Connection) Open() bool {
	w := c.unproven.Load()
	if w != nil && c.clock.Now()-w.opened >= int64(shortWatch) {
		c.watchUp(w)
	}
	return c.up.Load() > 0 || w != nil && c.failures.Load() == 0
}

// Opened returns when the last watch that was up was opened and up to date, by the Observer's clock, 0 before the first.
func (c *Connection) Opened() int64 { return c.opened.Load() }

// OpenedTime returns when the watch was opened as a wall clock time that does not change, or the zero time while no watch is up.
func (c *Connection) OpenedTime() time.Time {
	if t := c.openedTime.Load(); t != nil && c.Open() {
		return *t
	}
	return time.Time{}
}

// ReceivedAt returns when data was last received, by the Observer's clock, 0 if none was.
func (c *Connection) ReceivedAt() int64 { return max(c.lastReceipt.Load(), c.Ring.Last()) }

// LastReceipt returns when data was last received, or the zero time if none was. The wall clock time is computed once for
// each receipt, so that it is the same in each scrape. Scrapes compute it, so that it costs nothing per event.
func (c *Connection) LastReceipt() time.Time {
	at := c.ReceivedAt()
	if at == 0 {
		return time.Time{}
	}
	known := c.lastReceiptTime.Load()
	if known == nil || known.at != at {
		known = &timestamp{at: at, time: c.clock.Wall(at)}
		c.lastReceiptTime.Store(known)
	}
	return known.time
}

// Fresh records a time for which a check has shown that the store lacked nothing. If the watch turns out to be dead, events have
// been missing since then.
func (c *Connection) Fresh(at int64) {
	for last := c.fresh.Load(); last < at && !c.fresh.CompareAndSwap(last, at); last = c.fresh.Load() {
	}
}

// Failures returns the number of consecutive failed lists and watches, 0 once a watch has been open for a second. Lists
// that succeed do not count: an informer that may list but not watch keeps failing.
func (c *Connection) Failures() int64 {
	if c.Open() && c.clock.Now()-c.opened.Load() >= int64(shortWatch) {
		return 0
	}
	return c.failures.Load()
}

// DownSince returns the time since which no event can be received: the end of the last watch that was up or, if its loss was
// detected late, the last time it was known to be alive, or the last list after that. It returns 0 while a watch is up and before the
// first list.
func (c *Connection) DownSince() (since int64) {
	if c.Open() {
		return 0
	}
	since = c.closed.Load()
	if since == 0 && c.opened.Load() != 0 {
		return 0 // up since the call of Open
	}
	if list := c.lastList.Load(); list != nil {
		since = max(since, list.At)
	}
	return since
}
