package objects

import (
	"context"
	"maps"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// breakable is a connection with a watch that can be ended, so that the informer relists.
type breakable struct {
	metadata.ResourceInterface
	current atomic.Pointer[watch.Interface]
	broken  atomic.Bool
}

func (b *breakable) listWatch() *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return b.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if b.broken.Load() {
				return nil, apierrors.NewResourceExpired("expired by the test")
			}
			w, err := b.Watch(ctx, o)
			if err == nil {
				b.current.Store(&w)
			}
			return w, err
		},
	}
}

// TestDeletionOnTheServer follows objects from the request to delete them to their removal, by events and by a relist after
// which an object is missing or replaced.
func TestDeletionOnTheServer(t *testing.T) {
	t.Parallel()
	namespace, c := stacktest.Namespace(t), client(t)
	registry := prometheus.NewRegistry()
	collector, err := New(registry, Options{})
	if err != nil {
		t.Fatal(err)
	}
	connection := &breakable{ResourceInterface: metadata.NewForConfigOrDie(stacktest.Config(t)).
		Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(namespace)}
	follow(t, cache.NewSharedIndexInformer(connection.listWatch(), &metav1.PartialObjectMetadata{}, 0, nil), collector.NewHandler("configmaps"))
	reports := func(what string, want samples) {
		t.Helper()
		want["configmaps/*/none"] = 0
		await.True(t, what, func() bool { return maps.Equal(take(t, registry, catalog.ObjectTerminating), want) })
	}

	configMaps := c.CoreV1().ConfigMaps(namespace)
	make := func(name string, finalizers ...string) {
		t.Helper()
		if _, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) {
		t.Helper()
		if err := configMaps.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	finalize := func(name, patch string) {
		t.Helper()
		if _, err := configMaps.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":`+patch+`}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		make(name, "example.com/one", "example.com/two")
	}
	make("d")
	reports("no terminating object", samples{})
	for _, name := range []string{"a", "b", "c", "d"} {
		remove(name)
	}
	one, two := "configmaps/"+namespace+"/example.com/one", "configmaps/"+namespace+"/example.com/two"
	reports("three terminating objects", samples{one: 3, two: 3})
	if oldest := take(t, registry, catalog.ObjectTerminatingOldest)[one]; oldest < 0 || oldest > 3600 {
		t.Errorf("the oldest is %v s old", oldest)
	}
	finalize("a", `["example.com/two"]`)
	reports("one of them with one finalizer fewer", samples{one: 2, two: 3})
	finalize("a", "null")
	reports("two terminating objects", samples{one: 2, two: 2})

	// Without events, one object is removed, and the other is removed and created again.
	connection.broken.Store(true)
	(*connection.current.Load()).Stop()
	finalize("b", "null")
	finalize("c", "null")
	make("c")
	connection.broken.Store(false)
	reports("no terminating object after the relist", samples{})
	make("e", "example.com/one")
	remove("e")
	reports("one terminating object", samples{one: 1})
	finalize("e", "null")
	reports("no terminating object again", samples{})
}

// TestGenerationsOnTheServer follows a Deployment. The test writes its status, because no controller runs.
func TestGenerationsOnTheServer(t *testing.T) {
	t.Parallel()
	namespace, c := stacktest.Namespace(t), client(t)
	registry := prometheus.NewRegistry()
	collector, err := New(registry, Options{})
	if err != nil {
		t.Fatal(err)
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(stacktest.Config(t)), 0, namespace, nil)
	informer := factory.ForResource(appsv1.SchemeGroupVersion.WithResource("deployments")).Informer()
	handler := collector.NewHandler("deployments.apps")
	handler.SetGenerations(true)
	follow(t, informer, handler)
	reports := func(what string, want samples) {
		t.Helper()
		want["deployments.apps/*"] = 0
		await.True(t, what, func() bool { return maps.Equal(take(t, registry, catalog.ObjectGenerationLag), want) })
	}
	reports("no Deployment", samples{})

	deployments := c.AppsV1().Deployments(namespace)
	labels := map[string]string{"app": "test"}
	d, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "d", Annotations: map[string]string{"secret": "not kept"}},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	behind := "deployments.apps/" + namespace
	reports("a new Deployment", samples{behind: 1})
	observe := func() {
		t.Helper()
		d.Status.ObservedGeneration = d.Generation
		if d, err = deployments.UpdateStatus(t.Context(), d, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	observe()
	reports("observed", samples{})
	d.Spec.Paused = true
	if d, err = deployments.Update(t.Context(), d, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	reports("a change that was not observed", samples{behind: 1})
	observe()
	reports("observed again", samples{})

	kept, ok := informer.GetStore().List()[0].(Observed)
	if !ok || kept.GetObservedGeneration() != d.Generation || kept.GetGeneration() != d.Generation || kept.GetUID() != d.UID || kept.GetAnnotations() != nil || kept.GetManagedFields() != nil {
		t.Errorf("the informer keeps %+v", kept)
	}

	// The server increments the generation of a terminating object, which no controller observes.
	if _, err := deployments.Patch(t.Context(), "d", types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/test"]}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := deployments.Delete(t.Context(), "d", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "one terminating Deployment", func() bool {
		return take(t, registry, catalog.ObjectTerminating)[behind+"/example.com/test"] == 1
	})
	kept = informer.GetStore().List()[0].(Observed)
	if kept.GetGeneration() <= kept.GetObservedGeneration() {
		t.Errorf("generation %d, observed generation %d: the deletion did not increment it", kept.GetGeneration(), kept.GetObservedGeneration())
	}
	reports("no lag of a terminating Deployment", samples{})
	if _, err := deployments.Patch(t.Context(), "d", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}
