package controllerruntime

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
)

// newCache decorates a function that creates a cache, cache.New if it is nil.
func newCache(obs *collectors.Observer, logger logr.Logger, inner cache.NewCacheFunc) cache.NewCacheFunc {
	if inner == nil {
		inner = cache.New
	}
	return func(config *rest.Config, options cache.Options) (cache.Cache, error) {
		if options.NewInformer == nil {
			options.HTTPClient, options.NewInformer = informer.NewInformerFunc(obs, options.HTTPClient)
		} else {
			logger.Info("informers are not observed: cache.Options.NewInformer is set")
		}
		c, err := inner(config, options)
		if c == nil || err != nil {
			return c, err
		}
		return namingCache{c}, nil
	}
}

// namingCache names the event handlers of controllers. All of them have the same Go type, which does not identify them.
type namingCache struct {
	cache.Cache
}

// GetInformer implements cache.Informers.
func (c namingCache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	inf, err := c.Cache.GetInformer(ctx, obj, opts...)
	return named(ctx, inf, err)
}

// GetInformerForKind implements cache.Informers.
func (c namingCache) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	inf, err := c.Cache.GetInformerForKind(ctx, gvk, opts...)
	return named(ctx, inf, err)
}

// named returns an informer that names the handlers of the controller in the context. Informers of one namespace, or of all,
// remain a SharedIndexInformer.
func named(ctx context.Context, inf cache.Informer, err error) (cache.Informer, error) {
	name := controllerIn(ctx)
	if err != nil || inf == nil || name == "" {
		return inf, err
	}
	if shared, ok := inf.(toolscache.SharedIndexInformer); ok {
		return namingSharedInformer{shared, name}, nil
	}
	return namingInformer{inf, name}, nil
}

// namingInformer names handlers that sources add.
type namingInformer struct {
	cache.Informer
	name string
}

// AddEventHandler implements cache.Informer.
func (i namingInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandler(name(h, i.name))
}

// AddEventHandlerWithResyncPeriod implements cache.Informer.
func (i namingInformer) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandlerWithResyncPeriod(name(h, i.name), period)
}

// AddEventHandlerWithOptions implements cache.Informer.
func (i namingInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.Informer.AddEventHandlerWithOptions(name(h, i.name), options)
}

// namingSharedInformer is namingInformer for a SharedIndexInformer.
type namingSharedInformer struct {
	toolscache.SharedIndexInformer
	name string
}

// AddEventHandler implements cache.Informer.
func (i namingSharedInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(name(h, i.name))
}

// AddEventHandlerWithResyncPeriod implements cache.Informer.
func (i namingSharedInformer) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, period time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(name(h, i.name), period)
}

// AddEventHandlerWithOptions implements cache.Informer.
func (i namingSharedInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(name(h, i.name), options)
}

// name names a handler of a source. Other handlers, which a controller may add itself, keep their names.
func name(h toolscache.ResourceEventHandler, controller string) toolscache.ResourceEventHandler {
	if !isSourceHandler(h) {
		return h
	}
	return informer.NamedHandler(controller, h)
}
