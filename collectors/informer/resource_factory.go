package informer

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// resourceFactory keeps one informer for each resource. client-go's factories cannot be wrapped: they start their own
// informers, which bypass any decorator.
type resourceFactory struct {
	obs         *collectors.Observer
	resync      time.Duration
	options     FactoryOptions
	newInformer func(schema.GroupVersionResource) informers.GenericInformer

	mu           sync.Mutex
	informers    map[schema.GroupVersionResource]informers.GenericInformer
	started      map[schema.GroupVersionResource]bool
	shuttingDown bool

	running sync.WaitGroup
}

func newResourceFactory(obs *collectors.Observer, resync time.Duration, options FactoryOptions) *resourceFactory {
	return &resourceFactory{
		obs:       obs,
		resync:    resync,
		options:   options,
		informers: map[schema.GroupVersionResource]informers.GenericInformer{},
		started:   map[schema.GroupVersionResource]bool{},
	}
}

// decorated returns the decorated informer of a resource.
func (f *resourceFactory) decorated(resource schema.GroupVersionResource, lw cache.ListerWatcher, example runtime.Object, description string) cache.SharedIndexInformer {
	inf := NewSharedIndexInformer(f.obs, For(resource, f.options.Namespace), lw, example, identified(cache.SharedIndexInformerOptions{
		ResyncPeriod:      f.resync,
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		ObjectDescription: description,
	}, f.options.InformerName, resource))
	// Ignored as in client-go's factory: SetTransform fails only if the informer has been started.
	_ = inf.SetTransform(f.options.Transform)
	return inf
}

// ForResource returns the informer of a resource, always the same one. It does not start it.
func (f *resourceFactory) ForResource(resource schema.GroupVersionResource) informers.GenericInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	inf, ok := f.informers[resource]
	if !ok {
		inf = f.newInformer(resource)
		f.informers[resource] = inf
	}
	return inf
}

// Start starts the informers that have been requested and not started yet. It does not wait for them.
func (f *resourceFactory) Start(stopCh <-chan struct{}) {
	f.StartWithContext(wait.ContextForChannel(stopCh))
}

// StartWithContext is Start for informers that run until the context is done.
func (f *resourceFactory) StartWithContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shuttingDown {
		return
	}
	for resource, inf := range f.informers {
		if !f.started[resource] {
			f.started[resource] = true
			f.running.Go(func() { inf.Informer().RunWithContext(ctx) })
		}
	}
}

// WaitForCacheSync waits until the informers that have been started are synced, or until the channel is closed. It reports for
// each whether it is synced.
func (f *resourceFactory) WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool {
	f.mu.Lock()
	started := map[schema.GroupVersionResource]cache.SharedIndexInformer{}
	for resource := range f.started {
		started[resource] = f.informers[resource].Informer()
	}
	f.mu.Unlock()

	synced := map[schema.GroupVersionResource]bool{}
	for resource, inf := range started {
		synced[resource] = cache.WaitForCacheSync(stopCh, inf.HasSynced)
	}
	return synced
}

// Shutdown keeps the factory from starting informers and waits until the running ones have ended, which requires that their
// stop channel is closed. It may be called more than once.
func (f *resourceFactory) Shutdown() {
	f.mu.Lock()
	f.shuttingDown = true
	f.mu.Unlock()
	f.running.Wait()
	if f.options.InformerName != nil {
		f.options.InformerName.Release()
	}
}

// resourceInformer is an informer of a resourceFactory.
type resourceInformer struct {
	informer  cache.SharedIndexInformer
	newLister func(cache.Indexer) cache.GenericLister
}

var _ informers.GenericInformer = resourceInformer{}

// Informer implements informers.GenericInformer.
func (i resourceInformer) Informer() cache.SharedIndexInformer { return i.informer }

// Lister implements informers.GenericInformer.
func (i resourceInformer) Lister() cache.GenericLister { return i.newLister(i.informer.GetIndexer()) }
