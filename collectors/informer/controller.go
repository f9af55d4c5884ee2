package informer

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// NewInformerWithOptions is a drop-in replacement for cache.NewInformerWithOptions. It decorates the connection to the API
// server, the store that it returns, which is a cache.Indexer like client-go's, and the handler. The series exist from now
// until Run of the controller returns.
func NewInformerWithOptions(obs *collectors.Observer, id ID, options cache.InformerOptions) (cache.Store, cache.Controller) {
	r := registryOf(obs)
	inf := r.newInformer(id)
	newer := controllerOptions{InformerOptions: options}
	inf.claim.upstream = provideMetrics(inf.shared, &newer.InformerMetricsProvider)
	options = newer.InformerOptions
	options.ListerWatcher = inf.decorateConnection(options.ListerWatcher)
	if options.Transform != nil {
		inf.functions.SetTransforms(true)
		options.Transform = inf.functions.Transform(options.Transform)
	}
	options.Indexers = inf.functions.Indexers(options.Indexers)
	if options.Handler != nil {
		decorated := inf.decorateHandler(options.Handler)
		decorated.resyncPeriod = options.ResyncPeriod
		decorated.cursor.Registered()
		inf.addHandler(decorated)
		options.Handler = decorated
	}
	store, inner := cache.NewInformerWithOptions(options)
	inf.store = versionedStore(store, inner.LastSyncResourceVersion)
	synced := syncedController(inner)
	// Not HasSynced, which waits for the lock that client-go holds while it transforms objects and may call handlers.
	inf.connection.StoreSynced = func() bool { return isDone(synced) }
	if indexer, ok := store.(cache.Indexer); ok {
		inf.indexer = versionedIndexer(indexer, inner.LastSyncResourceVersion)
		store = inf.decorateIndexer(indexer, inf.connection.StoreSynced)
	}
	r.publish(inf)
	return store, &controller{Controller: inner, informer: inf, synced: synced}
}

// controller decorates the controller of an informer without shared handlers. It embeds what it decorates for the same reason
// as sharedIndexInformer.
type controller struct {
	cache.Controller
	informer *informer
	synced   doneChecker
	running  atomic.Bool
}

var _ cache.Controller = &controller{}

// Run implements cache.Controller.
func (c *controller) Run(stopCh <-chan struct{}) {
	c.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext implements cache.Controller. The informer's series are deleted when it returns.
func (c *controller) RunWithContext(ctx context.Context) {
	if !c.running.CompareAndSwap(false, true) {
		c.Controller.RunWithContext(ctx) // a second call, which client-go does not support: passed on unchanged
		return
	}
	c.informer.run(ctx, c.Controller, c.synced)
}
