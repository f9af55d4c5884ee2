package collectors

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/ring"
)

// informer is what the decorators of one informer share: the ListerWatcher writes to source and ring, the handlers read
// them, and a scrape reads everything.
type informer struct {
	obs    *Observer
	id     ID
	group  *group
	ring   *ring.Ring
	source source

	// store is the undecorated store, nil if only a ListerWatcher is decorated.
	store cache.Store
	// synced is client-go's answer, nil if only a ListerWatcher is decorated.
	synced func() bool
	// listed tells whether the ListerWatcher is decorated too.
	listed bool
	// lister is the undecorated ListerWatcher, and indexer the undecorated store: what checks read is not counted. nil like
	// store, and unless listed.
	lister  cache.ListerWatcherWithContext
	indexer cache.Indexer
	// checks are those that were asked for when the informer was made.
	checks Checks
	// fresh is what freshness checks have found.
	fresh freshness
	// audits is what audits have found.
	audits audits
	// recount tells that events no longer say how many objects are stored: a Transform has dropped or renamed some, or a
	// watch from no particular version has sent known ones again.
	recount atomic.Bool

	// upstream reports client-go's own metrics of the informer, nil unless asked for.
	upstream *upstreamInformer

	// started is when the informer was run.
	started atomic.Int64
	// running is the context that the informer was run with, nil before.
	running atomic.Pointer[context.Context]
	// lastSync is how long the last sync took, in nanoseconds.
	lastSync atomic.Int64

	mu       sync.Mutex
	handlers []*handler
}

// newInformer returns an informer that no scrape sees until it is published.
func (o *Observer) newInformer(id ID) *informer {
	inf := &informer{obs: o, id: id, group: o.join(id), ring: ring.New(o.remembered), checks: *o.checks.Load()}
	inf.source.informer = inf
	return inf
}

// runner is what an informer and a controller have in common.
type runner interface {
	RunWithContext(context.Context)
	HasSyncedChecker() cache.DoneChecker
}

// run runs what is decorated, and deletes the series when it has returned.
func (inf *informer) run(ctx context.Context, inner runner) {
	inf.started.Store(inf.obs.now())
	inf.running.Store(&ctx)
	ended := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { inf.awaitSync(inner.HasSyncedChecker(), ended) })
	stopChecks := inf.startChecks(ctx, inner.HasSyncedChecker())
	defer func() {
		stopChecks()
		close(ended)
		wg.Wait()
		inf.end()
	}()
	inner.RunWithContext(ctx)
}

// awaitSync records how long it took until the store had a first full state.
func (inf *informer) awaitSync(synced cache.DoneChecker, ended <-chan struct{}) {
	select {
	case <-synced.Done():
		inf.syncedAfter(inf.obs.now() - inf.started.Load())
	case <-ended:
	}
}

// syncedAfter records a successful sync.
func (inf *informer) syncedAfter(nanoseconds int64) {
	inf.lastSync.Store(nanoseconds)
	inf.group.syncSuccess.Observe(seconds(nanoseconds))
}

func (inf *informer) addHandler(h *handler) {
	inf.mu.Lock()
	defer inf.mu.Unlock()
	inf.handlers = append(inf.handlers, h)
}

func (inf *informer) removeHandler(h *handler) {
	inf.mu.Lock()
	defer inf.mu.Unlock()
	if at := slices.Index(inf.handlers, h); at >= 0 {
		inf.handlers = slices.Delete(inf.handlers, at, at+1)
		inf.group.releaseHandler(h.series)
	}
}

func (inf *informer) currentHandlers() []*handler {
	inf.mu.Lock()
	defer inf.mu.Unlock()
	return slices.Clone(inf.handlers)
}

// end deletes the informer's series. What still writes to them afterwards writes into the void.
func (inf *informer) end() {
	for _, h := range inf.currentHandlers() {
		inf.removeHandler(h)
	}
	inf.upstream.end()
	inf.obs.leave(inf)
}

func seconds(nanoseconds int64) float64 {
	return float64(nanoseconds) / 1e9
}
