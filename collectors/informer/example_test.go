//go:build !clientgo_before_0_36

package informer_test

import (
	"context"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The examples use fake clients. Real clients are used in the same way.

var (
	shopPod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	podsGVR = corev1.SchemeGroupVersion.WithResource("pods")
)

// podListWatch returns a ListerWatcher of pods.
func podListWatch(client kubernetes.Interface) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return client.CoreV1().Pods(metav1.NamespaceAll).Watch(ctx, options)
		},
	}, client)
}

// The typed factory of client-go.
func ExampleNewSharedInformerFactory() {
	obs, registry := observertest.Example()

	factory := informer.NewSharedInformerFactory(obs, fake.NewClientset(shopPod), 0, informer.FactoryOptions{})
	pods := factory.Core().V1().Pods().Lister()

	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		panic(err)
	}
	_, _ = pods.Pods("shop").Get("web")
	_, _ = pods.Pods("shop").Get("gone")
	observertest.Print(registry, "k8s_informer_synced", "k8s_informer_objects", "k8s_informer_cache_hits_total", "k8s_informer_cache_misses_total")

	cancel()
	factory.Shutdown() // the series end with the informers
	observertest.Print(registry, "k8s_informer_synced")
	// Output:
	// k8s_informer_cache_hits_total{informer_type="pods",watch_namespace="*"} 1
	// k8s_informer_cache_misses_total{informer_type="pods",watch_namespace="*"} 1
	// k8s_informer_objects{informer_type="pods",watch_namespace="*"} 1
	// k8s_informer_synced{informer_type="pods",watch_namespace="*"} 1
}

// A factory of unstructured objects.
func ExampleNewDynamicSharedInformerFactory() {
	obs, registry := observertest.Example()
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, shopPod)

	factory := informer.NewDynamicSharedInformerFactory(obs, client, 0, informer.FactoryOptions{Namespace: "shop"})
	pods := factory.ForResource(podsGVR).Lister()

	stop := make(chan struct{})
	factory.Start(stop)
	for kind, synced := range factory.WaitForCacheSync(stop) {
		if !synced {
			panic(kind)
		}
	}
	_, _ = pods.ByNamespace("shop").Get("web")
	observertest.Print(registry, "k8s_informer_objects", "k8s_informer_cache_hits_total")

	close(stop)
	factory.Shutdown()
	// Output:
	// k8s_informer_cache_hits_total{informer_type="pods",watch_namespace="shop"} 1
	// k8s_informer_objects{informer_type="pods",watch_namespace="shop"} 1
}

// A factory of metadata.
func ExampleNewMetadataSharedInformerFactory() {
	obs, registry := observertest.Example()
	known := metadatafake.NewTestScheme()
	_ = metav1.AddMetaToScheme(known)
	client := metadatafake.NewSimpleMetadataClient(known, &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
	})

	factory := informer.NewMetadataSharedInformerFactory(obs, client, 0, informer.FactoryOptions{})
	deployments := factory.ForResource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Lister()

	stop := make(chan struct{})
	factory.Start(stop)
	for kind, synced := range factory.WaitForCacheSync(stop) {
		if !synced {
			panic(kind)
		}
	}
	_, _ = deployments.ByNamespace("shop").Get("web")
	observertest.Print(registry, "k8s_informer_objects", "k8s_informer_cache_hits_total")

	close(stop)
	factory.Shutdown()
	// Output:
	// k8s_informer_cache_hits_total{informer_type="deployments.apps",watch_namespace="*"} 1
	// k8s_informer_objects{informer_type="deployments.apps",watch_namespace="*"} 1
}

// A factory of a clientset other than client-go's, here of widgets in the group example.com.
func ExampleInformerFor() {
	obs, registry := observertest.Example()
	client := &fakeExample{asked: make(chan string, 1)}
	factory := &exampleFactory{client: client, informers: map[reflect.Type]cache.SharedIndexInformer{}}

	widgetsGVR := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	if _, err := informer.InformerFor(obs, factory, widgetsGVR, client.ExampleV1().Widgets(""), informer.GeneratedOptions{}); err != nil {
		panic(err)
	}
	widgets := factory.Widgets() // the rest of the program is unchanged

	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); widgets.Run(stop) }()
	if !cache.WaitForCacheSync(stop, widgets.HasSynced) {
		panic("not synced")
	}
	observertest.Print(registry, "k8s_informer_objects", "k8s_informer_synced")

	close(stop)
	<-done
	// Output:
	// k8s_informer_objects{informer_type="widgets.example.com",watch_namespace="*"} 1
	// k8s_informer_synced{informer_type="widgets.example.com",watch_namespace="*"} 1
}

// A single informer.
func ExampleNewSharedIndexInformer() {
	obs, registry := observertest.Example()
	lw := podListWatch(fake.NewClientset(shopPod))

	pods := informer.NewSharedIndexInformer(obs, informer.For(podsGVR, metav1.NamespaceAll), lw, &corev1.Pod{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	})
	handler := informer.NamedHandler("cleaner", cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}})
	registration, _ := pods.AddEventHandler(handler)

	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); pods.Run(stop) }()
	if !cache.WaitForCacheSync(stop, registration.HasSynced) {
		panic("not synced")
	}
	_, _ = pods.GetIndexer().ByIndex(cache.NamespaceIndex, "shop")
	observertest.Print(registry, "k8s_informer_cache_lists_total", "k8s_informer_handlers", "k8s_informer_handler_panics_total")

	close(stop)
	<-done
	// Output:
	// k8s_informer_cache_lists_total{index="namespace",informer_type="pods",watch_namespace="*"} 1
	// k8s_informer_handler_panics_total{handler="cleaner",informer_type="pods",watch_namespace="*"} 0
	// k8s_informer_handlers{informer_type="pods",watch_namespace="*"} 1
}

// An existing informer: its store and its handlers are observed, its lists and watches are not.
func ExampleWrap() {
	obs, registry := observertest.Example()
	built := cache.NewSharedIndexInformer(podListWatch(fake.NewClientset(shopPod)), &corev1.Pod{}, 0, cache.Indexers{})

	pods := informer.Wrap(obs, informer.For(podsGVR, metav1.NamespaceAll), built)

	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); pods.Run(stop) }()
	if !cache.WaitForCacheSync(stop, pods.HasSynced) {
		panic("not synced")
	}
	_, _, _ = pods.GetStore().GetByKey("shop/web")
	observertest.Print(registry, "k8s_informer_objects", "k8s_informer_cache_hits_total")

	close(stop)
	<-done
	// Output:
	// k8s_informer_cache_hits_total{informer_type="pods",watch_namespace="*"} 1
	// k8s_informer_objects{informer_type="pods",watch_namespace="*"} 1
}

// An informer with a single handler and no sharing.
func ExampleNewInformerWithOptions() {
	obs, registry := observertest.Example()
	added := make(chan string)

	store, controller := informer.NewInformerWithOptions(obs, informer.For(podsGVR, metav1.NamespaceAll), cache.InformerOptions{
		ListerWatcher: podListWatch(fake.NewClientset(shopPod)),
		ObjectType:    &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			added <- obj.(*corev1.Pod).Name
		}},
	})

	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); controller.Run(stop) }()
	fmt.Println("added", <-added)
	_, _, _ = store.GetByKey("shop/web")
	observertest.Print(registry, "k8s_informer_objects", "k8s_informer_cache_hits_total")

	close(stop)
	<-done // the series end with the controller
	observertest.Print(registry, "k8s_informer_objects")
	// Output:
	// added web
	// k8s_informer_cache_hits_total{informer_type="pods",watch_namespace="*"} 1
	// k8s_informer_objects{informer_type="pods",watch_namespace="*"} 1
}

// A bare Reflector: its lists and watches are observed.
func ExampleNewListerWatcher() {
	obs, registry := observertest.Example()

	lw := informer.NewListerWatcher(obs, informer.For(podsGVR, metav1.NamespaceAll), podListWatch(fake.NewClientset(shopPod)))
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	reflector := cache.NewReflectorWithOptions(lw, &corev1.Pod{}, store, cache.ReflectorOptions{})

	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); reflector.Run(stop) }()
	for len(store.ListKeys()) == 0 {
		time.Sleep(time.Millisecond)
	}
	observertest.Print(registry, "k8s_informer_objects", "k8s_informer_synced")

	close(stop)
	<-done
	lw.Close() // only the caller knows that the Reflector has ended
	observertest.Print(registry, "k8s_informer_objects")
	// Output:
	// k8s_informer_objects{informer_type="pods",watch_namespace="*"} 1
	// k8s_informer_synced{informer_type="pods",watch_namespace="*"} 1
}

// A cache of controller-runtime, which creates its informers with the function in cache.Options.NewInformer. This
// example calls it as controller-runtime does, with a fake that has no HTTP client; examples/controller-runtime has
// a whole program.
func ExampleNewInformerFunc() {
	obs, registry := observertest.Example()
	lw := podListWatch(fake.NewClientset(shopPod))

	_, newInformer := informer.NewInformerFunc(obs, nil) // nil, because the fake has no HTTP client

	pods := newInformer(lw, &corev1.Pod{}, 10*time.Hour, cache.Indexers{})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); pods.Run(stop) }()
	if !cache.WaitForCacheSync(stop, pods.HasSynced) {
		panic("not synced")
	}
	_, _, _ = pods.GetIndexer().GetByKey("shop/web")
	observertest.Print(registry, "k8s_informer_objects", "k8s_informer_cache_hits_total")

	close(stop)
	<-done
	// Output:
	// k8s_informer_cache_hits_total{informer_type="pods",watch_namespace="*"} 1
	// k8s_informer_objects{informer_type="pods",watch_namespace="*"} 1
}
