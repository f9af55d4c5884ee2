package collectors

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// TestEveryKindOfTheFactoryIsDecorated walks the factory's interface, so that a group or a kind of a later client-go
// cannot slip past, and compares the names with those of client-go's own factory.
func TestEveryKindOfTheFactoryIsDecorated(t *testing.T) {
	obs, _ := newObserver(t)
	f := obs.SharedInformerFactory(fake.NewClientset(), 0, FactoryOptions{})
	kinds := 0
	for group := range reflect.TypeFor[informers.SharedInformerFactory]().Methods() {
		if group.Type.NumIn() != 0 || group.Type.NumOut() != 1 || group.Type.Out(0).Kind() != reflect.Interface {
			continue
		}
		for version := range group.Type.Out(0).Methods() {
			for kind := range version.Type.Out(0).Methods() {
				informer := reflect.ValueOf(f).MethodByName(group.Name).Call(nil)[0].MethodByName(version.Name).Call(nil)[0].
					MethodByName(kind.Name).Call(nil)[0]
				name := group.Name + "." + version.Name + "." + kind.Name
				inf := informer.MethodByName("Informer").Call(nil)[0].Interface().(cache.SharedIndexInformer)
				decorated := unwrap(inf)
				if decorated == nil || !decorated.informer.listed {
					t.Errorf("%s is not decorated", name)
					continue
				}
				lister := informer.MethodByName("Lister").Call(nil)
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
	if n := len(clientKinds().byType); n < kinds {
		t.Errorf("the clientset has %d kinds, the factory %d", n, kinds)
	}
	for resource := range clientKinds().byResource {
		f := obs.SharedInformerFactory(fake.NewClientset(), 0, FactoryOptions{})
		generic, err := f.ForResource(resource)
		if err != nil {
			t.Errorf("ForResource(%v): %v", resource, err)
			continue
		}
		decorated := unwrap(generic.Informer())
		if decorated == nil || decorated.informer.id.Resource != resource.Resource || decorated.informer.id.Group != resource.Group {
			t.Errorf("ForResource(%v) is not decorated, or called %+v", resource, decorated)
		}
	}
}

// unwrap returns the decorator inside what a factory hands out, or nil.
func unwrap(inf cache.SharedIndexInformer) *sharedIndexInformer {
	if s, ok := inf.(*sharedIndexInformer); ok {
		return s
	}
	v := reflect.Indirect(reflect.ValueOf(inf))
	if v.Kind() != reflect.Struct || v.NumField() != 1 {
		return nil
	}
	s, _ := v.Field(0).Interface().(*sharedIndexInformer)
	return s
}

func TestFactoryOptions(t *testing.T) {
	obs, reg := newObserver(t)
	name, err := cache.NewInformerName("test-factory-options")
	if err != nil {
		t.Fatal(err)
	}
	selected := pod("selected", 2)
	selected.Labels = map[string]string{"a": "b"}
	f := obs.SharedInformerFactory(fake.NewClientset(pod("a", 1), selected), time.Hour, FactoryOptions{
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
	for _, i := range obs.snapshot() {
		if hits, misses := i.hits.Load(), i.misses.Load(); i.informerType == "pods" && (hits != 1 || misses != 1) {
			t.Errorf("%d hits and %d misses through the lister", hits, misses)
		}
	}
	scopes := map[string]string{}
	for _, s := range obs.Informers() {
		scopes[s.ID.Type()] = s.ID.Scope()
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

// Informers that the caller builds are decorated once, whoever decorates them.
func TestInformerFor(t *testing.T) {
	obs, _ := newObserver(t)
	f := obs.SharedInformerFactory(fake.NewClientset(), 0, FactoryOptions{})
	plain := f.InformerFor(&corev1.Pod{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(newFakeServer(), &corev1.Pod{}, 0, cache.Indexers{})
	})
	if s := unwrap(plain); s == nil || s.informer.id.Type() != "pods" {
		t.Errorf("not decorated: %T", plain)
	}
	own := obs.NewSharedIndexInformer(ID{Resource: "nodes"}, newFakeServer(), &corev1.Node{}, cache.SharedIndexInformerOptions{})
	if got := f.InformerFor(&corev1.Node{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return own }); got != own {
		t.Error("a decorated informer was decorated again")
	}
}
