package informer

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
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/metadata/metadatalister"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// NewDynamicSharedInformerFactory is a drop-in replacement for dynamicinformer.NewFilteredDynamicSharedInformerFactory. It
// decorates informers of unstructured objects of any resource, and the listers on top of them. A resync period of 0 means
// never. The factory is safe for concurrent use.
func NewDynamicSharedInformerFactory(obs *collectors.Observer, client dynamic.Interface, defaultResync time.Duration, options FactoryOptions) dynamicinformer.DynamicSharedInformerFactory {
	f := newResourceFactory(obs, defaultResync, options)
	f.newInformer = func(resource schema.GroupVersionResource) informers.GenericInformer {
		objects := client.Resource(resource).Namespace(options.Namespace)
		lw := cache.ToListWatcherWithWatchListSemantics(listWatch(options.TweakListOptions, objects.List, objects.Watch), client)
		return resourceInformer{
			informer: f.decorated(resource, lw, &unstructured.Unstructured{}, resource.String()),
			newLister: func(indexer cache.Indexer) cache.GenericLister {
				return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(indexer, resource))
			},
		}
	}
	return f
}

// NewMetadataSharedInformerFactory is a drop-in replacement for metadatainformer.NewSharedInformerFactoryWithOptions. It
// decorates informers of the metadata of any resource, and the listers on top of them. A resync period of 0 means never.
// The factory is safe for concurrent use.
func NewMetadataSharedInformerFactory(obs *collectors.Observer, client metadata.Interface, defaultResync time.Duration, options FactoryOptions) metadatainformer.SharedInformerFactory {
	f := newResourceFactory(obs, defaultResync, options)
	f.newInformer = func(resource schema.GroupVersionResource) informers.GenericInformer {
		objects := client.Resource(resource).Namespace(options.Namespace)
		lw := cache.ToListWatcherWithWatchListSemantics(listWatch(options.TweakListOptions, objects.List, objects.Watch), client)
		return resourceInformer{
			informer: f.decorated(resource, lw, &metav1.PartialObjectMetadata{}, ""),
			newLister: func(indexer cache.Indexer) cache.GenericLister {
				return metadatalister.NewRuntimeObjectShim(metadatalister.New(indexer, resource))
			},
		}
	}
	return f
}

// listWatch returns the ListerWatcher of one resource's informers, given the functions of its client.
func listWatch[L runtime.Object](
	tweak func(*metav1.ListOptions),
	list func(context.Context, metav1.ListOptions) (L, error),
	open func(context.Context, metav1.ListOptions) (watch.Interface, error),
) *cache.ListWatch {
	if tweak == nil {
		tweak = func(*metav1.ListOptions) {}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			tweak(&options)
			objects, err := list(ctx, options)
			if err != nil {
				return nil, err // not a nil pointer in an interface
			}
			return objects, nil
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			tweak(&options)
			return open(ctx, options)
		},
	}
}
