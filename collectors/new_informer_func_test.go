package collectors

import (
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
)

func TestNewInformerFuncNames(t *testing.T) {
	gv := schema.GroupVersion{Group: "example.com", Version: "v1"}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	mapper.AddSpecific(gv.WithKind("Sheep"), gv.WithResource("flock"), gv.WithResource("sheep"), meta.RESTScopeNamespace)
	own := runtime.NewScheme()
	own.AddKnownTypeWithName(gv.WithKind("Sheep"), &corev1.Pod{})

	sheep := &unstructured.Unstructured{}
	sheep.SetGroupVersionKind(gv.WithKind("Sheep"))
	partialSheep := &metav1.PartialObjectMetadata{}
	partialSheep.SetGroupVersionKind(gv.WithKind("Sheep"))

	for name, c := range map[string]struct {
		scheme     *runtime.Scheme
		mapper     meta.RESTMapper
		namespaces []string
		object     runtime.Object
		want       string
	}{
		"a type of client-go":           {nil, mapper, nil, &appsv1.Deployment{}, "deployments.apps *"},
		"a type of the caller's scheme": {own, mapper, nil, &corev1.Pod{}, "flock.example.com *"},
		"unstructured":                  {nil, mapper, nil, sheep, "flock.example.com *"},
		"metadata":                      {nil, mapper, nil, partialSheep, "flock.example.com *"},
		"no mapper":                     {nil, nil, []string{"a"}, sheep, "sheeps.example.com a"},
		"a mapper that does not know":   {nil, mapper, nil, &corev1.Pod{}, "pods *"},
		"a type that nobody knows":      {own, mapper, nil, &corev1.ConfigMap{}, "configmaps *"},
		"one namespace":                 {nil, mapper, []string{"a"}, &appsv1.Deployment{}, "deployments.apps a"},
		"two namespaces":                {nil, mapper, []string{"b", "a"}, &appsv1.Deployment{}, "deployments.apps a,b"},
		"one and all namespaces":        {nil, mapper, []string{"b", ""}, &appsv1.Deployment{}, "deployments.apps *"},
		"a kind without namespaces":     {nil, mapper, []string{"a"}, &corev1.Node{}, "nodes *"},
	} {
		obs, _ := newObserver(t)
		inf := obs.NewInformerFunc(c.scheme, c.mapper, c.namespaces...)(newFakeServer(), c.object, 0, cache.Indexers{})
		id := unwrap(inf).informer.id
		if got := id.Type() + " " + id.Scope(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The cache of controller-runtime makes an informer for each namespace, with the same function.
func TestNewInformerFuncOfSeveralNamespaces(t *testing.T) {
	obs, reg := newObserver(t)
	newInformer := obs.NewInformerFunc(nil, nil, "a", "b")
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	first, second := newInformer(newFakeServer(), &corev1.Pod{}, 0, indexers), newInformer(newFakeServer(), &corev1.Pod{}, 0, indexers)
	if unwrap(first).informer.group != unwrap(second).informer.group {
		t.Error("the series are not shared")
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_duplicates": 0})
	third := newInformer(newFakeServer(), &corev1.Pod{}, 0, indexers)
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_duplicates": 1})
	unwrap(third).informer.end()
	other := obs.NewInformerFunc(nil, nil, "c")(newFakeServer(), &corev1.Pod{}, 0, indexers)
	if unwrap(first).informer.group == unwrap(other).informer.group {
		t.Error("the series of another cache are shared")
	}
	if got := first.GetIndexer().GetIndexers(); len(got) != 1 {
		t.Errorf("the indexers are %v", got)
	}
	if err := errors.Join(first.SetTransform(nil), first.SetWatchErrorHandler(func(*cache.Reflector, error) {})); err != nil {
		t.Errorf("what the cache sets next: %v", err)
	}
	if scopes := slices.Collect(func(yield func(string) bool) {
		for _, s := range obs.Informers() {
			yield(s.ID.Scope())
		}
	}); !slices.Equal(scopes, []string{"a,b", "a,b", "c"}) {
		t.Errorf("the scopes are %v", scopes)
	}
}
