package informer

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/clientset"
)

// NewSharedInformerFactory is a drop-in for informers.NewSharedInformerFactoryWithOptions. Every informer that it returns,
// and every lister on top of one, is decorated. Informers that the caller builds for InformerFor are decorated like those
// of Wrap. The factory is safe for concurrent use.
//
// It calls methods of the clientset by reflection, once for each list and watch, never for an event; a program that calls
// it is linked with all its exported methods.
func NewSharedInformerFactory(obs *collectors.Observer, client kubernetes.Interface, defaultResync time.Duration, options Options) informers.SharedInformerFactory {
	raw := informers.NewSharedInformerFactoryWithOptions(client, defaultResync,
		informers.WithNamespace(options.Namespace),
		informers.WithTweakListOptions(options.TweakListOptions),
		informers.WithTransform(options.Transform),
		informers.WithCustomResyncConfig(options.CustomResync),
		informers.WithInformerName(options.InformerName),
	)
	f := &factory{obs: obs, raw: raw, client: client, options: options}
	f.generated = generatedFactory{f}
	return f
}

// factory decorates the informers of client-go's factory, which starts them, waits for them and shuts them down.
type factory struct {
	obs     *collectors.Observer
	raw     informers.SharedInformerFactory
	client  kubernetes.Interface
	options Options
	// generated is the factory as the generated group interfaces see it.
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
		return Wrap(f.obs, guessID(obj, scheme.Scheme, f.options.Namespace), inner)
	})
}

// ForResource implements informers.SharedInformerFactory.
func (f *factory) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	// client-go's ForResource takes an informer of its type if there is one already.
	if r, ok := clientset.ForGVR(resource); ok {
		f.generated.informer(r)
	}
	return f.raw.ForResource(resource)
}

// generatedFactory is the factory as the generated group interfaces see it. They pass a function that builds an undecorated
// informer; it builds a decorated one for the same type instead.
type generatedFactory struct {
	*factory
}

var _ internalinterfaces.SharedInformerFactory = generatedFactory{}

// InformerFor implements internalinterfaces.SharedInformerFactory.
func (f generatedFactory) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	if r, ok := clientset.ForType(obj); ok {
		return f.informer(r)
	}
	return f.factory.InformerFor(obj, newFunc)
}

func (f generatedFactory) informer(r clientset.Resource) cache.SharedIndexInformer {
	return f.raw.InformerFor(r.New(), func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return newGenerated(f.obs, r, client, resync, f.options)
	})
}
