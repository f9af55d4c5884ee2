package informer

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// NewSharedInformerFactory is a drop-in replacement for informers.NewSharedInformerFactoryWithOptions. Every informer that
// it returns, and every lister of one, is decorated. Informers that the caller builds for InformerFor are decorated as by
// Wrap. The factory is safe for concurrent use.
func NewSharedInformerFactory(obs *collectors.Observer, client kubernetes.Interface, defaultResync time.Duration, options FactoryOptions) informers.SharedInformerFactory {
	f := &factory{obs: obs, client: client, options: options}
	f.SharedInformerFactory = f.newRaw(client, defaultResync)
	f.generated = generatedFactory{f.SharedInformerFactory, f}
	return newerFactory(f)
}

// factory decorates the informers of client-go's factory, which starts them, waits for them and shuts them down. It embeds that
// factory, so that it has the methods of any version of client-go. TestEveryMethodIsKnown fails when a later version adds a
// method.
type factory struct {
	informers.SharedInformerFactory
	obs     *collectors.Observer
	client  kubernetes.Interface
	options FactoryOptions
	// generated is the factory as the generated group interfaces see it.
	generated generatedFactory
}

var _ informers.SharedInformerFactory = &factory{}

// newRaw returns client-go's factory. It has no name, so that an undecorated informer does not reserve it in client-go's own
// metrics: the decorated one does.
func (f *factory) newRaw(client kubernetes.Interface, resync time.Duration) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, resync,
		informers.WithNamespace(f.options.Namespace),
		informers.WithTweakListOptions(f.options.TweakListOptions),
		informers.WithTransform(f.options.Transform),
		informers.WithCustomResyncConfig(f.options.CustomResync),
	)
}

// Shutdown implements informers.SharedInformerFactory.
func (f *factory) Shutdown() {
	f.SharedInformerFactory.Shutdown()
	if f.options.InformerName != nil {
		f.options.InformerName.Release()
	}
}

// InformerFor implements informers.SharedInformerFactory.
func (f *factory) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return f.SharedInformerFactory.InformerFor(obj, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		inner := newFunc(client, resync)
		if _, decorated := inner.(*sharedIndexInformer); decorated {
			return inner
		}
		return Wrap(f.obs, guessID(obj, scheme.Scheme, f.options.Namespace), inner)
	})
}

// ForResource implements informers.SharedInformerFactory. client-go's factory reuses an existing informer of the type.
func (f *factory) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	// An informer of this second factory is never started.
	generic, err := f.newRaw(f.client, 0).ForResource(resource)
	if err != nil {
		return nil, err
	}
	if example, ok := hidden[runtime.Object](generic.Informer(), "objectType"); ok {
		f.generated.InformerFor(example, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return generic.Informer() })
	}
	return f.SharedInformerFactory.ForResource(resource)
}

// generatedFactory is the factory as the generated group interfaces see it. They pass a function that builds an undecorated
// informer; generatedFactory builds a decorated one with the same connection instead.
type generatedFactory struct {
	internalinterfaces.SharedInformerFactory
	factory *factory
}

var _ internalinterfaces.SharedInformerFactory = generatedFactory{}

// InformerFor implements internalinterfaces.SharedInformerFactory.
func (f generatedFactory) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return f.factory.SharedInformerFactory.InformerFor(obj, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return f.factory.decorate(obj, newFunc(client, resync), resync)
	})
}

// decorate returns a decorated informer in place of an undecorated one that generated code has built.
func (f *factory) decorate(obj runtime.Object, undecorated cache.SharedIndexInformer, resync time.Duration) cache.SharedIndexInformer {
	gvr, _ := meta.UnsafeGuessKindToResource(kindOf(obj, scheme.Scheme))
	id := For(gvr, f.options.Namespace)
	if clusterScoped.Has(id.Type()) {
		id.Namespace = metav1.NamespaceAll
	}
	lw, ok := hidden[cache.ListerWatcher](undecorated, "listerWatcher")
	if !ok {
		registryOf(f.obs).Logger.Warn("connection of an informer is not observed: this version of client-go is not supported", "informer_type", id.Type())
		return Wrap(f.obs, id, undecorated)
	}
	return NewSharedIndexInformer(f.obs, id, lw, obj, identified(cache.SharedIndexInformerOptions{
		ResyncPeriod: resync,
		Indexers:     undecorated.GetIndexer().GetIndexers(),
	}, f.options.InformerName, gvr))
}
