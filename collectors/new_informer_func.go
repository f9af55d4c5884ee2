package collectors

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
)

// NewInformerFunc returns values for the fields HTTPClient and NewInformer of controller-runtime's cache.Options. The
// client is the one that HTTPClient has. Everything that is read through the manager's client or handled by its sources
// goes through decorated informers then:
//
//	manager.Options{NewCache: func(config *rest.Config, options cache.Options) (cache.Cache, error) {
//		options.HTTPClient, options.NewInformer = obs.NewInformerFunc(options.HTTPClient)
//		return cache.New(config, options)
//	}}
//
// Controller-runtime makes an informer for each kind, representation and namespace, and tells NewInformer neither the
// resource nor the namespace: only the paths of the requests do. So each new informer is asked once for a watch, which the
// returned client answers by itself, before anything is sent, with nothing in it but the path seen; no rate limiter sees
// it, and client-go's rest_client_requests_total counts it. The labels are therefore right for each informer, whatever limits the cache:
// DefaultNamespaces, ByObject or a field selector. A cache that has all namespaces but some is reported as "*".
//
// With a nil client, for caches that make their own, informers are named by their kind and reported as "*": those of
// several namespaces share their series and look like duplicates. Informers of one resource and namespace in two
// representations, such as metadata and Go types, share their series and are duplicates. What is returned is safe for concurrent use.
func (o *Observer) NewInformerFunc(client *http.Client) (*http.Client, func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer) {
	locating := client != nil
	if locating {
		copied := *client
		copied.Transport = locator{next: client.Transport}
		client = &copied
	}
	return client, func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
		id := guessID(example, scheme.Scheme, metav1.NamespaceAll)
		if locating {
			if located, ok := locate(lw); ok {
				id = located
			} else {
				o.logger.Warn("Cannot tell which namespace an informer watches: NewInformer is used with another HTTPClient than the one that came with it",
					"informer_type", id.Type())
			}
		}
		return o.NewSharedIndexInformer(id, lw, example, cache.SharedIndexInformerOptions{
			ResyncPeriod: resync,
			Indexers:     indexers,
		})
	}
}

// guessID names an informer for a type by the resource that its kind usually has.
func guessID(obj runtime.Object, s *runtime.Scheme, namespace string) ID {
	plural, _ := meta.UnsafeGuessKindToResource(kindOf(obj, s))
	return For(plural, namespace)
}

// kindOf returns the kind of an object. Objects that can be of any kind say which they are, those of a Go type have it
// from the scheme, or else the type's name.
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
