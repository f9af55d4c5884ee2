//go:build !clientgo_before_0_36

package informer_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// TestEveryKindOfTheFactoryIsDecorated walks the interface of the factory, so that a group or kind of a later
// client-go cannot bypass the decorators.
func TestEveryKindOfTheFactoryIsDecorated(t *testing.T) {
	obs, _ := observertest.New(t)
	f := informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.FactoryOptions{})
	kinds := 0
	for group := range reflect.TypeFor[informers.SharedInformerFactory]().Methods() {
		if group.Type.NumIn() != 0 || group.Type.NumOut() != 1 || group.Type.Out(0).Kind() != reflect.Interface {
			continue
		}
		for version := range group.Type.Out(0).Methods() {
			for kind := range version.Type.Out(0).Methods() {
				accessor := reflect.ValueOf(f).MethodByName(group.Name).Call(nil)[0].MethodByName(version.Name).Call(nil)[0].
					MethodByName(kind.Name).Call(nil)[0]
				name := group.Name + "." + version.Name + "." + kind.Name
				before := informer.Statuses(obs)
				accessor.MethodByName("Informer").Call(nil)
				after := informer.Statuses(obs)
				if len(after) != len(before)+1 || slices.ContainsFunc(after, func(s informer.Status) bool { return !s.Connection }) {
					t.Errorf("%s is not decorated", name)
					continue
				}
				lister := accessor.MethodByName("Lister").Call(nil)
				if len(lister) != 1 || lister[0].IsNil() {
					t.Errorf("%s has no lister", name)
				}
				kinds++
			}
		}
	}
	if kinds < 60 {
		t.Errorf("only %d kinds were found: the walk is broken", kinds)
	}
}

// TestForResourceDecoratesEveryResource walks the interface of the clientset. It also verifies the list of cluster-scoped
// resources.
func TestForResourceDecoratesEveryResource(t *testing.T) {
	resources := 0
	for version := range reflect.TypeFor[kubernetes.Interface]().Methods() {
		if version.Type.NumIn() != 0 || version.Type.NumOut() != 1 || version.Type.Out(0).Kind() != reflect.Interface {
			continue
		}
		for accessor := range version.Type.Out(0).Methods() {
			list, ok := accessor.Type.Out(0), false
			if list.Kind() == reflect.Interface {
				var method reflect.Method
				if method, ok = list.MethodByName("List"); ok {
					list = method.Type.Out(0).Elem()
				}
			}
			if !ok {
				continue
			}
			items, _ := list.FieldByName("Items")
			kinds, _, err := scheme.Scheme.ObjectKinds(reflect.New(items.Type.Elem()).Interface().(runtime.Object))
			if err != nil {
				t.Fatal(err)
			}
			resources++
			resource := kinds[0].GroupVersion().WithResource(strings.ToLower(accessor.Name))
			want := informer.For(resource, metav1.NamespaceAll)
			if accessor.Type.NumIn() == 1 {
				want.Namespace = "shop"
			}
			obs, _ := observertest.New(t)
			f := observertest.Keep(t, informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.FactoryOptions{Namespace: "shop"}))
			if _, err := f.ForResource(resource); err != nil {
				t.Errorf("ForResource(%v): %v", resource, err)
			} else if all := informer.Statuses(obs); len(all) != 1 || !all[0].Connection || all[0].ID != want {
				t.Errorf("ForResource(%v) is not decorated, or called %+v", resource, all)
			}
		}
	}
	if resources < 60 {
		t.Errorf("only %d resources were found: the walk is broken", resources)
	}
}

func TestFactoryOptions(t *testing.T) {
	obs, reg := observertest.New(t)
	name, err := cache.NewInformerName("test-factory-options")
	if err != nil {
		t.Fatal(err)
	}
	selected := fakeapi.Pod("selected", 2)
	selected.Labels = map[string]string{"a": "b"}
	f := informer.NewSharedInformerFactory(obs, fake.NewClientset(fakeapi.Pod("a", 1), selected), time.Hour, informer.FactoryOptions{
		Namespace:        "default",
		TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = "a=b" },
		Transform: func(obj any) (any, error) {
			obj.(metav1.Object).SetAnnotations(map[string]string{"transformed": "yes"})
			return obj, nil
		},
		CustomResync: map[metav1.Object]time.Duration{&corev1.Node{}: time.Minute},
		InformerName: name,
	})
	if f.InformerName() != name {
		t.Error("the name is lost")
	}
	lister := f.Core().V1().Pods().Lister()
	f.Core().V1().Nodes().Informer()
	stop := make(chan struct{})
	f.Start(stop)
	for kind, synced := range f.WaitForCacheSync(stop) {
		if !synced {
			t.Errorf("%v has not synced", kind)
		}
	}
	if _, err := lister.Pods("default").Get("a"); err == nil {
		t.Error("the selector was ignored: the pod has no such label")
	}
	if p, err := lister.Pods("default").Get("selected"); err != nil || p.Annotations["transformed"] != "yes" {
		t.Errorf("the selected pod is %v, %v", p, err)
	}
	for metric, want := range map[string]float64{"k8s_informer_cache_hits_total": 1, "k8s_informer_cache_misses_total": 1} {
		if got := metricstest.Gather(t, reg).Sum(metric, "informer_type", "pods"); got != want {
			t.Errorf("%s is %v, want %v: reads through the lister", metric, got, want)
		}
	}
	scopes := map[string]string{}
	for _, s := range informer.Statuses(obs) {
		scopes[s.ID.Type()] = s.ID.WatchNamespace()
	}
	if scopes["pods"] != "default" || scopes["nodes"] != "*" {
		t.Errorf("the scopes are %v; nodes have no namespace", scopes)
	}
	close(stop)
	f.Shutdown()
	if s := metricstest.Take(t, reg); len(s) != 0 {
		t.Errorf("after the shutdown:\n%s", s)
	}
}

// Informers that the caller builds are decorated exactly once.
func TestInformerFor(t *testing.T) {
	obs, _ := observertest.New(t)
	f := informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.FactoryOptions{})
	plain := f.InformerFor(&corev1.Pod{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{})
	})
	if all := informer.Statuses(obs); len(all) != 1 || all[0].ID != pods {
		t.Errorf("not decorated: %T", plain)
	}
	own := informer.NewSharedIndexInformer(obs, informer.ID{Resource: "nodes"}, fakeapi.NewServer(), &corev1.Node{}, cache.SharedIndexInformerOptions{})
	if got := f.InformerFor(&corev1.Node{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return own }); got != own {
		t.Error("a decorated informer was decorated again")
	}
}
