package collectors

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// NewInformerFunc returns a function for the field NewInformer of controller-runtime's cache.Options. Everything that is
// read through the manager's client or handled by its sources goes through decorated informers then:
//
//	manager.Options{NewCache: func(config *rest.Config, options cache.Options) (cache.Cache, error) {
//		options.NewInformer = obs.NewInformerFunc(options.Scheme, options.Mapper, slices.Collect(maps.Keys(options.DefaultNamespaces))...)
//		return cache.New(config, options)
//	}}
//
// The scheme names the kinds of Go types; the default is client-go's. The mapper names their resources and tells which
// of them have no namespace; without one, the plural is guessed. Controller-runtime asks the same mapper for the same
// kind just before.
//
// The namespaces are those that the cache is limited to, none for all. Controller-runtime makes an informer for each of
// them and does not say which is for which: those of several namespaces are reported as one, under all of the names
// ("a,b"), with their objects added up and the worst state of them. It is the same with informers of different
// representations of one kind. A cache that is limited for single kinds (cache.Options.ByObject) is best given a
// function of its own. The function is safe for concurrent use.
func (o *Observer) NewInformerFunc(s *runtime.Scheme, mapper meta.RESTMapper, namespaces ...string) func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer {
	if s == nil {
		s = scheme.Scheme
	}
	scope := strings.Join(slices.Compact(slices.Sorted(slices.Values(namespaces))), scopeSeparator)
	if slices.Contains(namespaces, metav1.NamespaceAll) {
		scope = metav1.NamespaceAll
	}
	return func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
		return o.NewSharedIndexInformer(idFor(example, s, mapper, scope), lw, example, cache.SharedIndexInformerOptions{
			ResyncPeriod: resync,
			Indexers:     indexers,
		})
	}
}

// scopeSeparator stands between the namespaces of informers that are reported as one. No namespace contains it.
const scopeSeparator = ","

// idFor names an informer for an object by the resource that the mapper knows for its kind.
func idFor(example runtime.Object, s *runtime.Scheme, mapper meta.RESTMapper, namespace string) ID {
	kind, ok := kindOf(example, s)
	if !ok || mapper == nil {
		return guessID(example, s, namespace)
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return guessID(example, s, namespace)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		namespace = metav1.NamespaceAll
	}
	return For(mapping.Resource, namespace)
}

// guessID names an informer for a type by the resource that its kind usually has.
func guessID(obj runtime.Object, s *runtime.Scheme, namespace string) ID {
	kind, _ := kindOf(obj, s)
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return For(plural, namespace)
}

// kindOf returns the kind of an object, and whether it is more than the name of its Go type. Objects that can be of any
// kind say which they are, those of a Go type have it from the scheme.
func kindOf(obj runtime.Object, s *runtime.Scheme) (schema.GroupVersionKind, bool) {
	_, partial := obj.(*metav1.PartialObjectMetadata)
	if !partial {
		if kinds, _, err := s.ObjectKinds(obj); err == nil && len(kinds) > 0 {
			return kinds[0], true
		}
	}
	if kind := obj.GetObjectKind().GroupVersionKind(); !kind.Empty() {
		return kind, true
	}
	return schema.GroupVersionKind{Kind: reflect.Indirect(reflect.ValueOf(obj)).Type().Name()}, false
}
