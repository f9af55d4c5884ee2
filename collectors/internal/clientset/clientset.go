// Package clientset finds what a generated clientset can list and watch. Generated informers hide their ListWatch, so that
// the decorators build their own from the same clientset.
//
// It calls methods by name, which makes the linker keep every exported method of the program. Nothing here is reachable
// unless the program calls one of its functions; package initialization does not.
package clientset

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

// Resource is a resource that a clientset can list and watch. Reflection finds every one, those of a later client-go
// included, and runs once for each list and watch, never for an event.
type Resource struct {
	// GVR is empty for resources of other clientsets than client-go's: their types do not contain the API group.
	GVR schema.GroupVersionResource
	// Namespaced reports whether objects have a namespace.
	Namespaced bool

	// version and accessor are the methods that lead from the clientset to the client of the resource, as in
	// client.CoreV1().Pods(namespace).
	version, accessor string
	object            reflect.Type
}

// kubernetesResources are the resources of kubernetes.Interface.
var kubernetesResources struct {
	once   sync.Once
	byType map[reflect.Type]Resource
	byGVR  map[schema.GroupVersionResource]Resource
}

func loadKubernetesResources() {
	k := &kubernetesResources
	k.once.Do(func() {
		k.byType, k.byGVR = map[reflect.Type]Resource{}, map[schema.GroupVersionResource]Resource{}
		for r := range resources(reflect.TypeFor[kubernetes.Interface]()) {
			gvks, _, err := scheme.Scheme.ObjectKinds(r.New())
			if err != nil || len(gvks) == 0 {
				continue
			}
			r.GVR = gvks[0].GroupVersion().WithResource(strings.ToLower(r.accessor))
			k.byType[reflect.PointerTo(r.object)] = r
			k.byGVR[r.GVR] = r
		}
	})
}

// ForType returns the resource of client-go's clientset whose objects have the type of the example.
func ForType(example runtime.Object) (Resource, bool) {
	loadKubernetesResources()
	r, ok := kubernetesResources.byType[reflect.TypeOf(example)]
	return r, ok
}

// ForGVR returns the resource of client-go's clientset with the given name.
func ForGVR(gvr schema.GroupVersionResource) (Resource, bool) {
	loadKubernetesResources()
	r, ok := kubernetesResources.byGVR[gvr]
	return r, ok
}

// All returns the names of all resources of client-go's clientset.
func All() (all []schema.GroupVersionResource) {
	loadKubernetesResources()
	for gvr := range kubernetesResources.byGVR {
		all = append(all, gvr)
	}
	return all
}

// Find returns the resource of a clientset, given by its interface, whose objects have the type of the example.
func Find(clientset reflect.Type, example runtime.Object) (Resource, bool) {
	if clientset.Kind() != reflect.Interface {
		return Resource{}, false
	}
	for r := range resources(clientset) {
		if reflect.PointerTo(r.object) == reflect.TypeOf(example) {
			return r, true
		}
	}
	return Resource{}, false
}

// resources yields what can be listed and watched with a clientset, given by its interface.
func resources(clientset reflect.Type) iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		for i := range clientset.NumMethod() {
			version := clientset.Method(i)
			if version.Type.NumIn() != 0 || version.Type.NumOut() != 1 || version.Type.Out(0).Kind() != reflect.Interface {
				continue
			}
			for j := range version.Type.Out(0).NumMethod() {
				if r, ok := newResource(version.Name, version.Type.Out(0).Method(j)); ok && !yield(r) {
					return
				}
			}
		}
	}
}

// newResource returns the resource that a method such as CoreV1Interface.Pods leads to, if it can be listed and watched.
func newResource(version string, accessor reflect.Method) (Resource, bool) {
	r := Resource{version: version, accessor: accessor.Name, Namespaced: accessor.Type.NumIn() == 1}
	if accessor.Type.NumOut() != 1 || accessor.Type.Out(0).Kind() != reflect.Interface {
		return r, false
	}
	list, canList := accessor.Type.Out(0).MethodByName("List")
	_, canWatch := accessor.Type.Out(0).MethodByName("Watch")
	if !canList || !canWatch || list.Type.NumOut() != 2 || list.Type.Out(0).Kind() != reflect.Pointer ||
		list.Type.Out(0).Elem().Kind() != reflect.Struct {
		return r, false
	}
	items, ok := list.Type.Out(0).Elem().FieldByName("Items")
	if !ok || items.Type.Kind() != reflect.Slice {
		return r, false
	}
	r.object = items.Type.Elem()
	return r, r.object.Kind() == reflect.Struct && reflect.PointerTo(r.object).Implements(reflect.TypeFor[runtime.Object]())
}

// New returns an empty object of the resource.
func (r Resource) New() runtime.Object {
	return reflect.New(r.object).Interface().(runtime.Object)
}

// ListWatch returns what the generated informer of the resource would read from. The namespace is ignored unless the
// resource is namespaced. tweak may be nil.
func (r Resource) ListWatch(client any, namespace string, tweak func(*metav1.ListOptions)) *cache.ListWatch {
	call := func(ctx context.Context, verb string, options metav1.ListOptions) (any, error) {
		if tweak != nil {
			tweak(&options)
		}
		var scope []reflect.Value
		if r.Namespaced {
			scope = append(scope, reflect.ValueOf(namespace))
		}
		typed := reflect.ValueOf(client).MethodByName(r.version).Call(nil)[0].MethodByName(r.accessor).Call(scope)[0]
		out := typed.MethodByName(verb).Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(options)})
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
