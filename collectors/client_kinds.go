package collectors

import (
	"context"
	"iter"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// clientKind is a kind that a generated clientset, client-go's or another, can list and watch. The generated informers hide their ListWatch, so
// that the decorators build their own from the same clientset. Reflection finds every kind, those of a later client-go
// included, and runs once for each list and watch, never for an event.
type clientKind struct {
	// group and kind are the names of the methods that lead from the clientset to the client of the kind, as in
	// client.CoreV1().Pods(namespace).
	group, kind string
	namespaced  bool
	resource    schema.GroupVersionResource
	object      reflect.Type
}

// kinds are the kinds of kubernetes.Interface.
type kinds struct {
	byType     map[reflect.Type]clientKind
	byResource map[schema.GroupVersionResource]clientKind
}

var clientKinds = sync.OnceValue(func() kinds {
	all := kinds{map[reflect.Type]clientKind{}, map[schema.GroupVersionResource]clientKind{}}
	for k := range kindsOf(reflect.TypeFor[kubernetes.Interface]()) {
		gvks, _, err := scheme.Scheme.ObjectKinds(k.newObject())
		if err != nil || len(gvks) == 0 {
			continue
		}
		k.resource = gvks[0].GroupVersion().WithResource(strings.ToLower(k.kind))
		all.byType[reflect.PointerTo(k.object)] = k
		all.byResource[k.resource] = k
	}
	return all
})

// kindsOf yields the kinds that can be listed and watched with a clientset, by its interface. Their resources are not
// set: the types do not tell the API group.
func kindsOf(clientset reflect.Type) iter.Seq[clientKind] {
	return func(yield func(clientKind) bool) {
		for i := range clientset.NumMethod() {
			group := clientset.Method(i)
			if group.Type.NumIn() != 0 || group.Type.NumOut() != 1 || group.Type.Out(0).Kind() != reflect.Interface {
				continue
			}
			for j := range group.Type.Out(0).NumMethod() {
				if k, ok := newClientKind(group.Name, group.Type.Out(0).Method(j)); ok && !yield(k) {
					return
				}
			}
		}
	}
}

// newClientKind returns the kind that a method such as CoreV1Interface.Pods leads to, if it can be listed and watched.
func newClientKind(group string, getter reflect.Method) (clientKind, bool) {
	k := clientKind{group: group, kind: getter.Name, namespaced: getter.Type.NumIn() == 1}
	if getter.Type.NumOut() != 1 || getter.Type.Out(0).Kind() != reflect.Interface {
		return k, false
	}
	list, canList := getter.Type.Out(0).MethodByName("List")
	_, canWatch := getter.Type.Out(0).MethodByName("Watch")
	if !canList || !canWatch || list.Type.NumOut() != 2 || list.Type.Out(0).Kind() != reflect.Pointer ||
		list.Type.Out(0).Elem().Kind() != reflect.Struct {
		return k, false
	}
	items, ok := list.Type.Out(0).Elem().FieldByName("Items")
	if !ok || items.Type.Kind() != reflect.Slice {
		return k, false
	}
	k.object = items.Type.Elem()
	return k, k.object.Kind() == reflect.Struct && reflect.PointerTo(k.object).Implements(reflect.TypeFor[runtime.Object]())
}

func (k clientKind) newObject() runtime.Object {
	return reflect.New(k.object).Interface().(runtime.Object)
}

// listWatch returns what the generated informer of the kind would read from.
func (k clientKind) listWatch(client any, namespace string, tweak func(*metav1.ListOptions)) *cache.ListWatch {
	call := func(ctx context.Context, verb string, options metav1.ListOptions) (any, error) {
		if tweak != nil {
			tweak(&options)
		}
		var scope []reflect.Value
		if k.namespaced {
			scope = append(scope, reflect.ValueOf(namespace))
		}
		kind := reflect.ValueOf(client).MethodByName(k.group).Call(nil)[0].MethodByName(k.kind).Call(scope)[0]
		out := kind.MethodByName(verb).Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(options)})
		err, _ := out[1].Interface().(error)
		if out[0].IsNil() {
			return nil, err
		}
		return out[0].Interface(), err
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := call(ctx, "List", options)
			object, _ := list.(runtime.Object)
			return object, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			stream, err := call(ctx, "Watch", options)
			w, _ := stream.(watch.Interface)
			return w, err
		},
	}
}
