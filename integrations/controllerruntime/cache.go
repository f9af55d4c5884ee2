package controllerruntime

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
)

// newCache decorates a function that creates a cache, cache.New if it is nil.
func newCache(obs *collectors.Observer, logger logr.Logger, inner cache.NewCacheFunc) cache.NewCacheFunc {
	if inner == nil {
		inner = cache.New
	}
	return func(config *rest.Config, options cache.Options) (cache.Cache, error) {
		seen := &notices{logger: logger}
		if options.NewInformer == nil {
			var decorated newInformer
			options.HTTPClient, decorated = informer.NewInformerFunc(obs, options.HTTPClient)
			options.NewInformer = func(lw toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
				seen.created.Store(true)
				return decorated(lw, object, resync, indexers)
			}
		} else {
			logger.Info("informers are not observed: cache.Options.NewInformer is set")
			seen.created.Store(true)
		}
		c, err := inner(config, options)
		if c == nil || err != nil {
			return c, err
		}
		return namingCache{c, seen}, nil
	}
}

// newInformer is the type of cache.Options.NewInformer.
type newInformer = func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer

// namingCache names the event handlers of controllers. All of them have the same Go type, which does not identify them.
type namingCache struct {
	cache.Cache
	notices *notices
}

// notices logs once what a cache does not let this package observe.
type notices struct {
	logger logr.Logger
	// created is set once the cache has created an informer with cache.Options.NewInformer.
	created                atomic.Bool
	informers, controllers sync.Once
}

// ownOptions logs that the informers of a cache are not observed.
func (n *notices) ownOptions() {
	n.informers.Do(func() {
		n.logger.Info("informers are not observed: NewCache ignores cache.Options.NewInformer; pass it, and HTTPClient, to cache.New")
	})
}

// unmanaged logs that the controller of a source is not observed.
func (n *notices) unmanaged() {
	n.controllers.Do(func() {
		n.logger.Info("controller is not observed: it is not added to the manager, or its type is unknown; add it, or decorate its reconciler with controllers.NewReconciler")
	})
}

// isPlainCache reports whether a runnable is a cache, or a cluster with one, that this package has not created.
func isPlainCache(r manager.Runnable) bool {
	c, ok := r.(cache.Cache)
	if cluster, has := r.(interface{ GetCache() cache.Cache }); has {
		c, ok = cluster.GetCache(), true
	}
	_, ours := c.(namingCache)
	return ok && !ours
}

// GetInformer implements cache.Informers.
func (c namingCache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	inf, err := c.Cache.GetInformer(ctx, obj, opts...)
	return c.named(ctx, inf, err)
}

// GetInformerForKind implements cache.Informers.
func (c namingCache) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	inf, err := c.Cache.GetInformerForKind(ctx, gvk, opts...)
	return c.named(ctx, inf, err)
}

// named returns an informer that names the handlers of the controller in the context. Informers of one namespace, or of all,
// remain a SharedIndexInformer.
func (c namingCache) named(ctx context.Context, inf cache.Informer, err error) (cache.Informer, error) {
	if err != nil || inf == nil {
		return inf, err
	}
	if !c.notices.created.Load() {
		c.notices.ownOptions()
	}
	name, ok := controllerIn(ctx)
	if ok && name == "" {
		return inf, err
	}
	n := namer{name, c.notices}
	if shared, ok := inf.(toolscache.SharedIndexInformer); ok {
		return namingSharedInformer{shared, n}, nil
	}
	return namingInformer{inf, n}, nil
}

// namingInformer names handlers that sources add.
type namingInformer struct {
	cache.Informer
	namer
}

// AddEventHandler implements cache.Informer.
func (i namingInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandler(i.of(h))
}

// AddEventHandlerWithResyncPeriod implements cache.Informer.
func (i namingInformer) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandlerWithResyncPeriod(i.of(h), period)
}

// AddEventHandlerWithOptions implements cache.Informer.
func (i namingInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandlerWithOptions(i.of(h), options)
}

// namingSharedInformer is namingInformer for a SharedIndexInformer.
type namingSharedInformer struct {
	toolscache.SharedIndexInformer
	namer
}

// AddEventHandler implements cache.Informer.
func (i namingSharedInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(i.of(h))
}

// AddEventHandlerWithResyncPeriod implements cache.Informer.
func (i namingSharedInformer) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(i.of(h), period)
}

// AddEventHandlerWithOptions implements cache.Informer.
func (i namingSharedInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(i.of(h), options)
}

// namer names the handlers of a controller.
type namer struct {
	name    string // "" if the controller was not added to the manager
	notices *notices
}

// of names a handler of a source. Other handlers, which a controller may add itself, keep their names.
func (n namer) of(h toolscache.ResourceEventHandler) toolscache.ResourceEventHandler {
	if !isSourceHandler(h) {
		return h
	}
	if n.name == "" {
		n.notices.unmanaged()
		return h
	}
	return informer.NamedHandler(n.name, h)
}
