package collectors

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// DynamicSharedInformerFactory is a drop-in for dynamicinformer.NewFilteredDynamicSharedInformerFactory: informers of
// unstructured objects of any resource, decorated, and so are the listers on top of them. A resync period of 0 is never.
func (o *Observer) DynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration, options ResourceFactoryOptions) dynamicinformer.DynamicSharedInformerFactory {
	return newResourceFactory(options.InformerName, func(resource schema.GroupVersionResource) informers.GenericInformer {
		objects := client.Resource(resource).Namespace(options.Namespace)
		lw := options.listWatch(
			func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				list, err := objects.List(ctx, options)
				if err != nil {
					return nil, err // and not a nil pointer in an interface
				}
				return list, nil
			},
			func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				return objects.Watch(ctx, options)
			},
		)
		return resourceInformer{
			informer: options.newInformer(o, resource, cache.ToListWatcherWithWatchListSemantics(lw, client),
				&unstructured.Unstructured{}, defaultResync, resource.String()),
			newLister: func(indexer cache.Indexer) cache.GenericLister {
				return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(indexer, resource))
			},
		}
	})
}
