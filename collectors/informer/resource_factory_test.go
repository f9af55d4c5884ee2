//go:build !clientgo_before_0_36

package informer_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/metadata/metadatainformer"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// anyResourceFactory has the methods that client-go's dynamic and metadata factories have in common.
type anyResourceFactory interface {
	Start(<-chan struct{})
	ForResource(schema.GroupVersionResource) informers.GenericInformer
	WaitForCacheSync(<-chan struct{}) map[schema.GroupVersionResource]bool
	Shutdown()
}

var nodesResource = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}

// resourceFactoryCase is a factory, plain or decorated. Both must behave in the same way.
type resourceFactoryCase struct {
	factory anyResourceFactory
	// actions returns the requests to the API server.
	actions func() []clienttesting.Action
	// obs is nil for client-go's own factory.
	obs *collectors.Observer
}

// forEachResourceFactory runs a test with client-go's two factories and with the decorated ones.
func forEachResourceFactory(t *testing.T, options informer.FactoryOptions, objects []*metav1.PartialObjectMetadata, test func(*testing.T, resourceFactoryCase)) {
	for _, kind := range []string{"dynamic", "metadata"} {
		for _, decorated := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/decorated=%t", kind, decorated), func(t *testing.T) {
				var c resourceFactoryCase
				if decorated {
					c.obs, _ = observertest.New(t)
				}
				if kind == "dynamic" {
					client := newDynamicClient(objects)
					c.actions, c.factory = client.Actions, observertest.Keep(t, newDynamicFactory(c.obs, client, options))
				} else {
					client := newMetadataClient(t, objects)
					c.actions, c.factory = client.Actions, observertest.Keep(t, newMetadataFactory(c.obs, client, options))
				}
				test(t, c)
			})
		}
	}
}

func newDynamicFactory(obs *collectors.Observer, client dynamic.Interface, options informer.FactoryOptions) anyResourceFactory {
	if obs != nil {
		return informer.NewDynamicSharedInformerFactory(obs, client, 0, options)
	}
	return dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, options.Namespace, options.TweakListOptions)
}

func newMetadataFactory(obs *collectors.Observer, client metadata.Interface, options informer.FactoryOptions) anyResourceFactory {
	if obs != nil {
		return informer.NewMetadataSharedInformerFactory(obs, client, 0, options)
	}
	return metadatainformer.NewFilteredSharedInformerFactory(client, 0, options.Namespace, options.TweakListOptions)
}

func newDynamicClient(objects []*metav1.PartialObjectMetadata) *dynamicfake.FakeDynamicClient {
	var list []runtime.Object
	for _, o := range objects {
		p := fakeapi.Pod(o.Name, 1)
		p.Namespace, p.Labels = o.Namespace, o.Labels
		list = append(list, p)
	}
	return dynamicfake.NewSimpleDynamicClient(scheme.Scheme, list...)
}

func newMetadataClient(t testing.TB, objects []*metav1.PartialObjectMetadata) *metadatafake.FakeMetadataClient {
	t.Helper()
	s := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(s); err != nil {
		t.Fatal(err)
	}
	var list []runtime.Object
	for _, o := range objects {
		list = append(list, o.DeepCopy())
	}
	return metadatafake.NewSimpleMetadataClient(s, list...)
}

func partial(namespace, name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: "1"},
	}
}

func TestResourceFactoriesBehaveAsClientGos(t *testing.T) {
	objects := []*metav1.PartialObjectMetadata{partial("here", "a"), partial("elsewhere", "b")}
	var tweaked sync.Map
	options := informer.FactoryOptions{
		Namespace: "here",
		TweakListOptions: func(o *metav1.ListOptions) {
			o.LabelSelector = "!absent"
			tweaked.Store(o.Watch || o.AllowWatchBookmarks, true)
		},
	}
	forEachResourceFactory(t, options, objects, func(t *testing.T, c resourceFactoryCase) {
		inf := c.factory.ForResource(podsResource)
		if c.factory.ForResource(podsResource).Informer() != inf.Informer() {
			t.Error("a second informer was made for the same resource")
		}
		if c.obs != nil && len(informer.Statuses(c.obs)) != 1 {
			t.Error("the informer is not decorated")
		}
		stop := make(chan struct{})
		never := make(chan struct{})
		if synced := c.factory.WaitForCacheSync(never); len(synced) != 0 {
			t.Errorf("waited for informers that were not started: %v", synced)
		}
		c.factory.Start(stop)
		c.factory.Start(stop) // again, as documented: only new informers are started
		if synced := c.factory.WaitForCacheSync(never); len(synced) != 1 || !synced[podsResource] {
			t.Errorf("synced: %v", synced)
		}
		late := c.factory.ForResource(nodesResource)
		if synced := c.factory.WaitForCacheSync(never); len(synced) != 1 {
			t.Errorf("waited for an informer that was not started: %v", synced)
		}
		if late.Informer().HasSynced() {
			t.Error("an informer was started without Start")
		}

		objects, err := inf.Lister().List(apilabels.Everything())
		if err != nil || len(objects) != 1 {
			t.Errorf("listed %v, %v; the other object is in another namespace", objects, err)
		}
		found, err := inf.Lister().ByNamespace("here").Get("a")
		if err != nil || found.(metav1.Object).GetName() != "a" {
			t.Errorf("found %v, %v", found, err)
		}
		if _, err := inf.Lister().ByNamespace("here").Get("b"); err == nil || err.Error() != `pods "b" not found` {
			t.Errorf("the error is %v", err)
		}
		for _, watched := range []bool{false, true} {
			await.True(t, fmt.Sprintf("the options of a watch=%t are tweaked", watched), func() bool {
				_, ok := tweaked.LoadAndDelete(watched)
				return ok
			})
		}
		lists := 0
		for _, a := range c.actions() {
			if a.GetNamespace() != "here" || a.GetResource() != podsResource {
				t.Errorf("asked for %v in %q", a.GetResource(), a.GetNamespace())
			}
			if a.GetVerb() == "list" {
				lists++
			}
		}
		if lists != 1 { // fakes report that they have no streaming lists
			t.Errorf("%d lists", lists)
		}

		down := make(chan struct{})
		go func() { c.factory.Shutdown(); close(down) }()
		select {
		case <-down:
			t.Error("Shutdown did not wait for the informers")
		case <-time.After(20 * time.Millisecond):
		}
		close(stop)
		<-down
		c.factory.Shutdown()
		c.factory.Start(never)
		if synced := c.factory.WaitForCacheSync(stop); len(synced) != 1 {
			t.Errorf("started after the shutdown: %v", synced)
		}
		if !inf.Informer().IsStopped() {
			t.Error("the informer has not ended")
		}
		if c.obs != nil && len(informer.Statuses(c.obs)) != 1 { // the informer of nodes, which has never run
			t.Errorf("informers remain: %+v", informer.Statuses(c.obs))
		}
	})
}

func TestResourceFactoriesTransformAndCount(t *testing.T) {
	for _, kind := range []string{"dynamic", "metadata"} {
		t.Run(kind, func(t *testing.T) {
			obs, reg := observertest.New(t)
			name, err := cache.NewInformerName("resource-factory-" + kind)
			if err != nil {
				t.Fatal(err)
			}
			options := informer.FactoryOptions{
				Transform: func(obj any) (any, error) {
					obj.(metav1.Object).SetLabels(map[string]string{"transformed": "yes"})
					return obj, nil
				},
				InformerName: name,
			}
			objects := []*metav1.PartialObjectMetadata{partial("here", "a")}
			factory := newDynamicFactory(obs, newDynamicClient(objects), options)
			if kind == "metadata" {
				factory = newMetadataFactory(obs, newMetadataClient(t, objects), options)
			}
			lister := factory.ForResource(podsResource).Lister()
			stop := make(chan struct{})
			factory.Start(stop)
			factory.WaitForCacheSync(stop)
			before := metricstest.Take(t, reg)
			if o, err := lister.Get("here/a"); err != nil || o.(metav1.Object).GetLabels()["transformed"] != "yes" {
				t.Errorf("got %v, %v", o, err)
			}
			_, _ = lister.Get("here/none")
			_, _ = lister.ByNamespace("here").List(apilabels.Everything())
			metricstest.Take(t, reg).Since(before, "k8s_informer_watch", "k8s_informer_sync", "k8s_informer_last").Equal(t, metricstest.Snapshot{
				"k8s_informer_cache_hits_total": 1, "k8s_informer_cache_misses_total": 1,
				"k8s_informer_cache_lists_total{index=namespace}": 1,
			})
			types := []string{}
			for _, s := range informer.Statuses(obs) {
				types = append(types, s.ID.Type()+" "+s.ID.WatchNamespace())
			}
			if !slices.Equal(types, []string{"pods *"}) {
				t.Errorf("the informers are %v", types)
			}
			if name.WithResource(podsResource).Reserved() {
				t.Error("the informer does not have its name")
			}
			close(stop)
			factory.Shutdown()
			if s := metricstest.Take(t, reg); len(s) != 0 {
				t.Errorf("after the shutdown:\n%s", s)
			}
			again, err := cache.NewInformerName(name.Name())
			if err != nil {
				t.Errorf("the name was not released: %v", err)
			}
			again.Release()
		})
	}
}
