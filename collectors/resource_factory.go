package collectors

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// ResourceFactoryOptions are the options of the factories whose informers are asked for by resource: dynamic and
// metadata. The zero value is all namespaces, unchanged.
type ResourceFactoryOptions struct {
	// Namespace limits the factory to one namespace. The default is all of them.
	Namespace string
	// TweakListOptions changes the options of every list and watch, for example to set a selector.
	TweakListOptions func(*metav1.ListOptions)
	// Transform is set on all informers. It runs on each object before it is stored.
	Transform cache.TransformFunc
	// InformerName identifies the factory's informers in client-go's own metrics, see Options.UpstreamMetrics. Shutdown
	// releases it. The default is none.
	InformerName *cache.InformerName
}

// listWatch returns what the informers of one resource read from. The functions are those of its client.
func (o ResourceFactoryOptions) listWatch(
	list func(context.Context, metav1.ListOptions) (runtime.Object, error),
	open func(context.Context, metav1.ListOptions) (watch.Interface, error),
) *cache.ListWatch {
	tweak := o.TweakListOptions
	if tweak == nil {
		tweak = func(*metav1.ListOptions) {}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			tweak(&options)
			return list(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			tweak(&options)
			return open(ctx, options)
		},
	}
}

// newInformer builds the decorated informer of one resource.
func (o ResourceFactoryOptions) newInformer(obs *Observer, resource schema.GroupVersionResource, lw cache.ListerWatcher, example runtime.Object, resync time.Duration, description string) cache.SharedIndexInformer {
	inf := obs.NewSharedIndexInformer(For(resource, o.Namespace), lw, example, cache.SharedIndexInformerOptions{
		ResyncPeriod:      resync,
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		ObjectDescription: description,
		Identifier:        o.InformerName.WithResource(resource),
	})
	// As in client-go's factory: the only error is that of an informer that has been started.
	_ = inf.SetTransform(o.Transform)
	return inf
}

// resourceFactory keeps one informer for each resource. client-go's factories cannot be wrapped: they start their own
// informers, past any decorator.
type resourceFactory struct {
	newInformer func(schema.GroupVersionResource) informers.GenericInformer
	name        *cache.InformerName

	mu           sync.Mutex
	informers    map[schema.GroupVersionResource]informers.GenericInformer
	started      map[schema.GroupVersionResource]bool
	shuttingDown bool

	running sync.WaitGroup
}

func newResourceFactory(name *cache.InformerName, newInformer func(schema.GroupVersionResource) informers.GenericInformer) *resourceFactory {
	return &resourceFactory{
		newInformer: newInformer,
		name:        name,
		informers:   map[schema.GroupVersionResource]informers.GenericInformer{},
		started:     map[schema.GroupVersionResource]bool{},
	}
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

// Start starts the informers that have been asked for and not started yet. It does not wait for them.
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

// WaitForCacheSync waits until the informers that have been started are synced, or until the channel is closed. It tells
// which ones are.
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

// Shutdown keeps the factory from starting informers and waits until those that run have ended, for which what they were
// started with must be closed. It may be called more than once.
func (f *resourceFactory) Shutdown() {
	f.mu.Lock()
	f.shuttingDown = true
	f.mu.Unlock()
	f.running.Wait()
	f.name.Release()
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
