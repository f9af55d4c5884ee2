//go:build !clientgo_before_0_36

package informer_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// Types as client-gen and informer-gen generate them for another API.

type widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

func (w *widget) DeepCopyObject() runtime.Object { c := *w; return &c }

type widgetList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []widget
}

func (l *widgetList) DeepCopyObject() runtime.Object { c := *l; return &c }

type (
	exampleClientset interface {
		Discovery() string
		ExampleV1() exampleV1Client
	}
	exampleV1Client interface {
		RESTClient() error
		Widgets(namespace string) widgetClient
	}
	// listClient has lists without objects.
	listClient interface {
		List(context.Context, metav1.ListOptions) (*widget, error)
		Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	}
	widgetClient interface {
		Get(context.Context, string, metav1.GetOptions) (*widget, error)
		List(context.Context, metav1.ListOptions) (*widgetList, error)
		Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	}
)

// fakeExample is a clientset with one widget. Like generated fakes, it has no streaming lists.
type fakeExample struct {
	// asked receives the namespace and the selector of each list.
	asked chan string
}

func (f *fakeExample) Discovery() string                     { return "" }
func (f *fakeExample) ExampleV1() exampleV1Client            { return f }
func (f *fakeExample) RESTClient() error                     { return nil }
func (f *fakeExample) IsWatchListSemanticsUnSupported() bool { return true }
func (f *fakeExample) Widgets(namespace string) widgetClient { return fakeWidgets{f, namespace} }

type fakeWidgets struct {
	example   *fakeExample
	namespace string
}

func (w fakeWidgets) Get(context.Context, string, metav1.GetOptions) (*widget, error) {
	return nil, nil
}

func (w fakeWidgets) List(_ context.Context, options metav1.ListOptions) (*widgetList, error) {
	w.example.asked <- w.namespace + " " + options.LabelSelector
	return &widgetList{
		ListMeta: metav1.ListMeta{ResourceVersion: "5"},
		Items:    []widget{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", ResourceVersion: "4"}}},
	}, nil
}

func (w fakeWidgets) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), nil
}

// newExampleInformer is internalinterfaces.NewInformerFunc of the generated factory.
type newExampleInformer func(exampleClientset, time.Duration) cache.SharedIndexInformer

// exampleFactory is the generated factory.
type exampleFactory struct {
	client    exampleClientset
	resync    time.Duration
	name      *cache.InformerName
	informers map[reflect.Type]cache.SharedIndexInformer
}

func (f *exampleFactory) InformerName() *cache.InformerName { return f.name }

func (f *exampleFactory) InformerFor(obj runtime.Object, newFunc newExampleInformer) cache.SharedIndexInformer {
	if inf, ok := f.informers[reflect.TypeOf(obj)]; ok {
		return inf
	}
	inf := newFunc(f.client, f.resync)
	f.informers[reflect.TypeOf(obj)] = inf
	return inf
}

// Widgets is factory.Example().V1().Widgets().Informer().
func (f *exampleFactory) Widgets() cache.SharedIndexInformer {
	return f.InformerFor(&widget{}, func(exampleClientset, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(&cache.ListWatch{}, &widget{}, 0, cache.Indexers{})
	})
}

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

func TestInformerForAnotherClientset(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	obs, err := collectors.New(registry, collectors.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	name, err := cache.NewInformerName("generated-factory")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(name.Release)
	client := &fakeExample{asked: make(chan string, 1)}
	factory := &exampleFactory{client: client, name: name, informers: map[reflect.Type]cache.SharedIndexInformer{}}
	inf, err := informer.InformerFor(obs, factory, widgets, client.ExampleV1().Widgets("shop"), informer.GeneratedOptions{
		Namespace:        "shop",
		TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = "a=b" },
	})
	if err != nil {
		t.Fatal(err)
	}
	if factory.Widgets() != inf {
		t.Fatal("the factory uses another informer")
	}
	if name.WithResource(widgets).Reserved() {
		t.Error("the factory's name is not that of the informer")
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); factory.Widgets().RunWithContext(ctx) }()
	if !cache.WaitForCacheSync(ctx.Done(), inf.HasSynced) {
		t.Fatal("not synced")
	}
	if asked := <-client.asked; asked != "shop a=b" {
		t.Errorf("asked for the namespace and the selector %q", asked)
	}
	if _, found, _ := factory.Widgets().GetIndexer().GetByKey("shop/a"); !found {
		t.Error("the widget is missing")
	}
	metricstest.Await(t, registry, metricstest.Snapshot{
		"k8s_informer_watch_connected": 1, "k8s_informer_cache_hits_total": 1, "k8s_informer_relists_total{reason=initial}": 1, "k8s_informer_objects": 1,
	})
	if id := informer.Statuses(obs)[0].ID; id.Type() != "widgets.example.com" || id.WatchNamespace() != "shop" {
		t.Errorf("the informer is called %+v", id)
	}
	cancel()
	<-done
}

func TestInformerForRefuses(t *testing.T) {
	obs, err := collectors.New(prometheus.NewPedanticRegistry(), collectors.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	client := &fakeExample{}
	factory := &exampleFactory{client: client, informers: map[reflect.Type]cache.SharedIndexInformer{}}
	if _, err := informer.InformerFor(obs, factory, widgets, listClient(nil), informer.GeneratedOptions{}); err == nil || !strings.Contains(err.Error(), "Items") {
		t.Errorf("lists without objects: %v", err)
	}
	factory.Widgets()
	if _, err := informer.InformerFor(obs, factory, widgets, client.ExampleV1().Widgets(""), informer.GeneratedOptions{}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a type that has an informer: %v", err)
	}
	if n := len(informer.Statuses(obs)); n != 0 {
		t.Errorf("%d informers were made", n)
	}
}
