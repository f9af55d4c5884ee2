package informer

import (
	"net/http"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// NewInformerFunc returns values for the fields HTTPClient and NewInformer of controller-runtime's cache.Options, given the
// value of HTTPClient. They decorate everything that is read through the manager's client or handled by its sources:
//
//	manager.Options{NewCache: func(config *rest.Config, options cache.Options) (cache.Cache, error) {
//		options.HTTPClient, options.NewInformer = informer.NewInformerFunc(obs, options.HTTPClient)
//		return cache.New(config, options)
//	}}
//
// controller-runtime creates an informer for each kind, representation and namespace, but passes neither resource nor
// namespace to NewInformer. To find them, NewInformer opens one watch per new informer, which the returned client intercepts:
// it reads the path of the request and sends nothing. No rate limiter is involved, but client-go's
// rest_client_requests_total counts the request. Labels are therefore correct for any DefaultNamespaces, ByObject or field
// selector. A cache of all namespaces except some is reported as "*".
//
// With a nil client, informers are named after their kind and reported as "*": those of several namespaces share their
// series and look like duplicates. So do informers of one resource in two representations, such as metadata and Go types.
// The returned values are safe for concurrent use.
func NewInformerFunc(obs *collectors.Observer, client *http.Client) (*http.Client, func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer) {
	locating := client != nil
	if locating {
		client = locatingClient(client)
	}
	return client, func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
		id := guessID(example, scheme.Scheme, metav1.NamespaceAll)
		if locating {
			if resource, namespace, ok := locate(lw); ok {
				id = ID{Group: resource.Group, Resource: resource.Resource, Namespace: namespace}
			} else {
				core.Of(obs).Logger.Warn("namespace of an informer is unknown: NewInformer is used with a different HTTPClient than the one returned with it",
					"informer_type", id.Type())
			}
		}
		return NewSharedIndexInformer(obs, id, lw, example, cache.SharedIndexInformerOptions{
			ResyncPeriod: resync,
			Indexers:     indexers,
		})
	}
}

// guessID returns the ID of an informer for a type. It guesses the resource from the kind.
func guessID(obj runtime.Object, s *runtime.Scheme, namespace string) ID {
	plural, _ := meta.UnsafeGuessKindToResource(kindOf(obj, s))
	return For(plural, namespace)
}

// kindOf returns the kind of an object: that of its Go type according to the scheme, otherwise the kind that it carries, or
// the name of its type.
func kindOf(obj runtime.Object, s *runtime.Scheme) schema.GroupVersionKind {
	_, partial := obj.(*metav1.PartialObjectMetadata)
	if !partial {
		if kinds, _, err := s.ObjectKinds(obj); err == nil && len(kinds) > 0 {
			return kinds[0]
		}
	}
	if kind := obj.GetObjectKind().GroupVersionKind(); !kind.Empty() {
		return kind
	}
	return schema.GroupVersionKind{Kind: reflect.Indirect(reflect.ValueOf(obj)).Type().Name()}
}
