package informer

import (
	"context"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// GeneratedFactory is the part of a factory of informer-gen that InformerFor needs. C is the interface of the clientset, F
// the type of the functions that build informers for the factory; both are inferred.
type GeneratedFactory[C any, F ~func(C, time.Duration) cache.SharedIndexInformer] interface {
	InformerFor(obj runtime.Object, newFunc F) cache.SharedIndexInformer
}

// GeneratedClient is the part of a typed client of client-gen that InformerFor needs. L is the type of its lists, which is
// inferred.
type GeneratedClient[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// InformerFor registers a decorated informer for one resource with a factory of a clientset other than client-go's. Call it
// before the factory creates an informer of that type. Afterwards the factory, its typed informers and their listers use it.
// objects is the typed client of the resource. For a namespaced resource, it must be in the namespace that the factory watches:
//
//	factory := externalversions.NewSharedInformerFactory(client, resync)
//	_, err := informer.InformerFor(obs, factory, v1.SchemeGroupVersion.WithResource("widgets"), client.ExampleV1().Widgets(""), informer.GeneratedOptions{})
//	widgets := factory.Example().V1().Widgets() // the rest of the program is unchanged
//
// Repeat the factory's namespace in the client. Its resync periods and its Transform apply. As with any informer of a factory, the next Start starts it.
//
// It returns an error if the lists of the client have no items, or if the factory already has an informer of the type,
// which then stays undecorated. It is safe for concurrent use.
func InformerFor[C any, F ~func(C, time.Duration) cache.SharedIndexInformer, L runtime.Object]( //nolint:revive // the name is client-go's
	obs *collectors.Observer, factory GeneratedFactory[C, F], resource schema.GroupVersionResource, objects GeneratedClient[L], options GeneratedOptions,
) (cache.SharedIndexInformer, error) {
	example, ok := itemOf(reflect.TypeFor[L]())
	if !ok {
		return nil, fmt.Errorf("informer: %v has no field Items with objects", reflect.TypeFor[L]())
	}
	var built cache.SharedIndexInformer
	inf := factory.InformerFor(example, func(client C, resync time.Duration) cache.SharedIndexInformer {
		lw := cache.ToListWatcherWithWatchListSemantics(listWatch(options.TweakListOptions, objects.List, objects.Watch), client)
		built = NewSharedIndexInformer(obs, For(resource, options.Namespace), lw, example, identified(cache.SharedIndexInformerOptions{
			ResyncPeriod: resync,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		}, nameOf(factory), resource))
		return built
	})
	if built == nil {
		return nil, fmt.Errorf("informer: the factory already has an informer for %T: call InformerFor once, before the type is first used", example)
	}
	return inf, nil
}

// itemOf returns an empty object of the item type of a list type.
func itemOf(list reflect.Type) (runtime.Object, bool) {
	if list.Kind() != reflect.Pointer || list.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	items, ok := list.Elem().FieldByName("Items")
	if !ok || items.Type.Kind() != reflect.Slice {
		return nil, false
	}
	item := items.Type.Elem()
	if item.Kind() == reflect.Pointer {
		item = item.Elem()
	}
	object, ok := reflect.New(item).Interface().(runtime.Object)
	return object, ok
}
