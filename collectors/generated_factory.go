package collectors

import (
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// GeneratedFactory is the part of a factory made by informer-gen that InformerFor needs. C is the interface of the
// clientset, F the type of function that the factory builds informers with; both are inferred.
type GeneratedFactory[C any, F ~func(C, time.Duration) cache.SharedIndexInformer] interface {
	InformerFor(obj runtime.Object, newFunc F) cache.SharedIndexInformer
}

// Scope says which objects of a resource an informer reads.
type Scope struct {
	// Namespace is the only namespace that is read. The default is all of them.
	Namespace string
	// TweakListOptions changes the options of every list and watch, for example to set a selector.
	TweakListOptions func(*metav1.ListOptions)
}

// InformerFor gives a factory of another clientset than client-go's a decorated informer for one type, before anything
// else asks the factory for it. From then on the factory, its typed informers and their listers use it:
//
//	factory := externalversions.NewSharedInformerFactory(client, resync)
//	_, err := collectors.InformerFor(obs, factory, v1.SchemeGroupVersion.WithResource("widgets"), &v1.Widget{}, collectors.Scope{})
//	widgets := factory.Example().V1().Widgets() // from here on as ever
//
// The factory keeps its namespace and its list options to itself: repeat them in the scope. Its resync periods and its
// transform apply as ever. As with any informer of a factory, the next Start starts it.
//
// It fails if the clientset cannot list and watch the type, or if the factory has an informer for the type already. It
// calls methods of the clientset by reflection, once for each list and watch, never for an event. It is safe for
// concurrent use.
func InformerFor[C any, F ~func(C, time.Duration) cache.SharedIndexInformer](
	o *Observer, factory GeneratedFactory[C, F], resource schema.GroupVersionResource, example runtime.Object, scope Scope,
) (cache.SharedIndexInformer, error) {
	kind, ok := kindFor(reflect.TypeFor[C](), reflect.TypeOf(example))
	if !ok {
		return nil, fmt.Errorf("collectors: %v has no method that leads to a client with List and Watch for %T", reflect.TypeFor[C](), example)
	}
	var name *cache.InformerName
	if named, ok := any(factory).(interface{ InformerName() *cache.InformerName }); ok {
		name = named.InformerName()
	}
	if !kind.namespaced {
		scope.Namespace = metav1.NamespaceAll
	}
	var built cache.SharedIndexInformer
	inf := factory.InformerFor(example, func(client C, resync time.Duration) cache.SharedIndexInformer {
		lw := cache.ToListWatcherWithWatchListSemantics(kind.listWatch(client, scope.Namespace, scope.TweakListOptions), client)
		built = o.NewSharedIndexInformer(For(resource, scope.Namespace), lw, example, cache.SharedIndexInformerOptions{
			ResyncPeriod: resync,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
			Identifier:   name.WithResource(resource),
		})
		return built
	})
	if built == nil {
		return nil, fmt.Errorf("collectors: the factory has an informer for %T already: call InformerFor before anything asks for it, and once", example)
	}
	return inf, nil
}

// kindFor returns the kind of a clientset whose objects have the given type.
func kindFor(clientset, object reflect.Type) (clientKind, bool) {
	if clientset.Kind() != reflect.Interface {
		return clientKind{}, false
	}
	for k := range kindsOf(clientset) {
		if reflect.PointerTo(k.object) == object {
			return k, true
		}
	}
	return clientKind{}, false
}
