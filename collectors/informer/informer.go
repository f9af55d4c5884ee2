package informer

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/audit"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/functions"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
)

// informer is the state that the decorators of one informer share: the ListerWatcher writes the connection, the handlers read
// it, and a scrape reads everything.
type informer struct {
	shared     *shared
	id         ID
	metrics    *metrics
	connection *stream.Connection
	checks     *checks.Checks
	functions  functions.Functions
	claim      *claim

	// store is the store without its decorator, nil if only a ListerWatcher is decorated. indexer is the store as an Indexer, nil
	// if it is not one.
	store   audit.Store
	indexer audit.Indexer
	// lister is the ListerWatcher without its decorator, nil unless the connection is observed.
	lister cache.ListerWatcherWithContext

	// running is the context that the informer was run with, or nil if it was not run.
	running atomic.Pointer[context.Context]

	stored stored
	health health

	mu       sync.Mutex
	handlers []*handler
}

// decorateConnection returns lw, observed as the connection of the informer.
func (inf *informer) decorateConnection(lw cache.ListerWatcher) *stream.ListerWatcher {
	decorated := inf.connection.Decorate(lw)
	inf.lister = decorated.Inner()
	inf.claim.observeWrites(inf)
	return decorated
}

// runner has the methods that informers and controllers have in common.
type runner interface {
	RunWithContext(context.Context)
}

// run runs the decorated informer or controller, and deletes the series when it has returned. synced is done when the store has
// its initial state.
func (inf *informer) run(ctx context.Context, inner runner, synced doneChecker) {
	inf.connection.Start()
	inf.running.Store(&ctx)
	inf.shared.ran.Store(true)
	running, ended := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { poll(running, synced) })
	wg.Go(func() {
		select {
		case <-synced.Done():
			inf.connection.InitialSync()
		case <-running.Done():
		}
	})
	stopChecks := inf.checks.Start(ctx, synced.Done())
	defer func() {
		stopChecks()
		ended()
		wg.Wait()
		inf.end()
	}()
	inner.RunWithContext(ctx)
}

// end deletes the informer's series. Later writes have no effect.
func (inf *informer) end() {
	for _, h := range inf.currentHandlers() {
		inf.removeHandler(h)
	}
	inf.claim.registry.informers.End(inf)
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
		inf.claim.releaseHandler(h.handlerMetrics)
		h.cursor.Close()
	}
}

func (inf *informer) currentHandlers() []*handler {
	inf.mu.Lock()
	defer inf.mu.Unlock()
	return slices.Clone(inf.handlers)
}
