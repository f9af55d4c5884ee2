package informer

import (
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/clientset"
)

// GeneratedFactory is the part of a factory by informer-gen that InformerFor needs. C is the interface of the clientset, F
// the type of the functions that build informers for the factory; both are inferred.
type GeneratedFactory[C any, F ~func(C, time.Duration) cache.SharedIndexInformer] interface {
	InformerFor(obj runtime.Object, newFunc F) cache.SharedIndexInformer
}

// InformerFor registers a decorated informer for one type with a factory of another clientset than client-go's. Call it before
// the factory is first used for that type. Afterwards the factory, its typed informers and their listers use it:
//
//	factory := externalversions.NewSharedInformerFactory(client, resync)
//	_, err := informer.InformerFor(obs, factory, v1.SchemeGroupVersion.WithResource("widgets"), &v1.Widget{}, informer.Options{})
//	widgets := factory.Example().V1().Widgets() // unchanged from here on
//
// The factory does not expose its namespace and its list options: repeat them in the options. Its resync periods and its
// Transform apply. As with any informer of a factory, the next Start starts it.
//
// It returns an error if the clientset cannot list and watch the type, or if the factory has an informer for the type
// already. It calls methods of the clientset by reflection, once for each list and watch, never for an event; a program
// that calls it is linked with all its exported methods. It is safe for concurrent use.
func InformerFor[C any, F ~func(C, time.Duration) cache.SharedIndexInformer]( //nolint:revive // the name is client-go's
	obs *collectors.Observer, factory GeneratedFactory[C, F], resource schema.GroupVersionResource, example runtime.Object, options Options,
) (cache.SharedIndexInformer, error) {
	r, ok := clientset.Find(reflect.TypeFor[C](), example)
	if !ok {
		return nil, fmt.Errorf("informer: %v has no client with List and Watch for %T", reflect.TypeFor[C](), example)
	}
	r.GVR, options.InformerName = resource, nil
	if named, ok := any(factory).(interface{ InformerName() *cache.InformerName }); ok {
		options.InformerName = named.InformerName()
	}
	var built cache.SharedIndexInformer
	inf := factory.InformerFor(example, func(client C, resync time.Duration) cache.SharedIndexInformer {
		built = newGenerated(obs, r, client, resync, options)
		return built
	})
	if built == nil {
		return nil, fmt.Errorf("informer: the factory already has an informer for %T: call InformerFor once, before the type is first used", example)
	}
	return inf, nil
}

// newGenerated returns a decorated informer in place of the one that generated code would build.
func newGenerated(obs *collectors.Observer, r clientset.Resource, client any, resync time.Duration, options Options) cache.SharedIndexInformer {
	if !r.Namespaced {
		options.Namespace = metav1.NamespaceAll
	}
	lw := cache.ToListWatcherWithWatchListSemantics(r.ListWatch(client, options.Namespace, options.TweakListOptions), client)
	return NewSharedIndexInformer(obs, For(r.GVR, options.Namespace), lw, r.New(), cache.SharedIndexInformerOptions{
		ResyncPeriod: resync,
		Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		Identifier:   options.InformerName.WithResource(r.GVR),
	})
}
