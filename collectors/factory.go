package collectors

import (
	"context"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// FactoryOptions are the options of informers.NewSharedInformerFactoryWithOptions as values: client-go's own are
// functions that nobody else can read.
type FactoryOptions struct {
	// Namespace limits the factory to one namespace. The default is all of them.
	Namespace string
	// TweakListOptions changes the options of every list and watch, for example to set a selector.
	TweakListOptions func(*metav1.ListOptions)
	// Transform is set on all informers.
	Transform cache.TransformFunc
	// CustomResync gives resync periods by type, such as &corev1.Pod{}. The default is the factory's.
	CustomResync map[metav1.Object]time.Duration
	// InformerName identifies the factory's informers in client-go's own metrics. The default is none.
	InformerName *cache.InformerName
}

// SharedInformerFactory is a drop-in for informers.NewSharedInformerFactoryWithOptions. Every informer that it hands
// out, and every lister on top of one, is decorated.
//
// Informers that the caller builds for InformerFor are decorated too, without their connection to the API server.
func (o *Observer) SharedInformerFactory(client kubernetes.Interface, defaultResync time.Duration, options FactoryOptions) informers.SharedInformerFactory {
	raw := informers.NewSharedInformerFactoryWithOptions(client, defaultResync,
		informers.WithNamespace(options.Namespace),
		informers.WithTweakListOptions(options.TweakListOptions),
		informers.WithTransform(options.Transform),
		informers.WithCustomResyncConfig(options.CustomResync),
		informers.WithInformerName(options.InformerName),
	)
	f := &factory{obs: o, raw: raw, client: client, options: options}
	f.generated = generatedFactory{f}
	return f
}

// factory decorates the informers of client-go's factory, which goes on to start them, to wait for them and to shut
// them down.
type factory struct {
	obs     *Observer
	raw     informers.SharedInformerFactory
	client  kubernetes.Interface
	options FactoryOptions
	// generated is what the generated group interfaces build their informers with.
	generated generatedFactory
}

var _ informers.SharedInformerFactory = &factory{}

// Start implements informers.SharedInformerFactory.
func (f *factory) Start(stopCh <-chan struct{}) { f.raw.Start(stopCh) }

// StartWithContext implements informers.SharedInformerFactory.
func (f *factory) StartWithContext(ctx context.Context) { f.raw.StartWithContext(ctx) }

// Shutdown implements informers.SharedInformerFactory.
func (f *factory) Shutdown() { f.raw.Shutdown() }

// WaitForCacheSync implements informers.SharedInformerFactory.
func (f *factory) WaitForCacheSync(stopCh <-chan struct{}) map[reflect.Type]bool {
	return f.raw.WaitForCacheSync(stopCh)
}

// WaitForCacheSyncWithContext implements informers.SharedInformerFactory.
func (f *factory) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	return f.raw.WaitForCacheSyncWithContext(ctx)
}

// InformerName implements informers.SharedInformerFactory.
func (f *factory) InformerName() *cache.InformerName { return f.raw.InformerName() }

// InformerFor implements informers.SharedInformerFactory.
func (f *factory) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return f.raw.InformerFor(obj, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		inner := newFunc(client, resync)
		if _, decorated := inner.(*sharedIndexInformer); decorated {
			return inner
		}
		return f.obs.Informer(guessID(obj, scheme.Scheme, f.options.Namespace), inner)
	})
}

// ForResource implements informers.SharedInformerFactory.
func (f *factory) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	// client-go's ForResource takes an informer of its type if there is one already.
	if kind, ok := clientKinds().byResource[resource]; ok {
		f.generated.informer(kind)
	}
	return f.raw.ForResource(resource)
}

// generatedFactory is what the generated group interfaces see. They come with a function that builds an undecorated
// informer; it builds a decorated one for the same type instead.
type generatedFactory struct {
	*factory
}

var _ internalinterfaces.SharedInformerFactory = generatedFactory{}

// InformerFor implements internalinterfaces.SharedInformerFactory.
func (f generatedFactory) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	if kind, ok := clientKinds().byType[reflect.TypeOf(obj)]; ok {
		return f.informer(kind)
	}
	return f.factory.InformerFor(obj, newFunc)
}

func (f generatedFactory) informer(kind clientKind) cache.SharedIndexInformer {
	example := kind.newObject()
	return f.raw.InformerFor(example, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		namespace := metav1.NamespaceAll
		if kind.namespaced {
			namespace = f.options.Namespace
		}
		lw := cache.ToListWatcherWithWatchListSemantics(kind.listWatch(client, namespace, f.options.TweakListOptions), client)
		return f.obs.NewSharedIndexInformer(For(kind.resource, namespace), lw, example, cache.SharedIndexInformerOptions{
			ResyncPeriod: resync,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
			Identifier:   f.InformerName().WithResource(kind.resource),
		})
	})
}
