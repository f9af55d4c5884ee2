package controllerruntime_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestRepresentations: informers of unstructured objects and metadata have the informer type of their resource, and those of
// cluster-scoped resources watch all namespaces.
func TestRepresentations(t *testing.T) {
	namespace := stacktest.Namespace(t)
	var transformed atomic.Bool
	m := newManager(t, stacktest.Config(t), ctrl.Options{Cache: cache.Options{
		DefaultNamespaces: map[string]cache.Config{namespace: {}},
		DefaultTransform:  func(obj any) (any, error) { transformed.Store(true); return obj, nil },
	}})
	m.run()
	roles := &unstructured.UnstructuredList{}
	roles.SetAPIVersion("rbac.authorization.k8s.io/v1")
	roles.SetKind("RoleList")
	nodes := &metav1.PartialObjectMetadataList{}
	nodes.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := m.GetCache().List(t.Context(), roles); err != nil {
		t.Fatal(err)
	}
	if err := m.GetCache().List(t.Context(), nodes); err != nil || len(nodes.Items) == 0 {
		t.Fatal(len(nodes.Items), err)
	}
	if v := m.value("k8s_informer_synced", "roles.rbac.authorization.k8s.io", namespace); v != 1 {
		t.Errorf("the informer of unstructured objects is not synced: %v", v)
	}
	if v := m.value("k8s_informer_objects", "namespaces", "*"); v != float64(len(nodes.Items)) {
		t.Errorf("%v namespaces are reported, %d are cached", v, len(nodes.Items))
	}
	if !transformed.Load() {
		t.Error("the manager's transform has not run")
	}
}

// TestSeveralNamespaces: each informer of a cache with several namespaces has its own series and namespace, for every way to
// configure it.
func TestSeveralNamespaces(t *testing.T) {
	a, b, c := stacktest.Namespace(t), stacktest.Namespace(t), stacktest.Namespace(t)
	m := newManager(t, stacktest.Config(t), ctrl.Options{Cache: cache.Options{
		DefaultNamespaces: map[string]cache.Config{a: {}, b: {}},
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}:         {Namespaces: map[string]cache.Config{c: {}}},
			&corev1.Service{}:        {Namespaces: map[string]cache.Config{}}, // all
			&corev1.ServiceAccount{}: {Namespaces: map[string]cache.Config{b: {}, cache.AllNamespaces: {}}},
			&corev1.Pod{}: {Namespaces: map[string]cache.Config{
				cache.AllNamespaces: {FieldSelector: fields.OneTermEqualSelector("metadata.namespace", c)},
			}},
		},
	}})
	m.run()
	for namespace, n := range map[string]int{a: 1, b: 2, c: 3} {
		for i := range n {
			object := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("object-", i)}
			if err := m.GetClient().Create(t.Context(), &corev1.ConfigMap{ObjectMeta: object}); err != nil {
				t.Fatal(err)
			}
			if err := m.GetClient().Create(t.Context(), &corev1.Secret{ObjectMeta: object}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.ServiceList{}, &corev1.ServiceAccountList{}, &corev1.PodList{}, &corev1.NamespaceList{}} {
		if err := m.GetCache().List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		informerType, namespace string
		objects                 float64 // negative: some
	}{
		{"configmaps", a, 1}, {"configmaps", b, 2},
		{"secrets", c, 3},
		{"services", "*", -1},
		{"serviceaccounts", b, 0}, {"serviceaccounts", "*", 0},
		{"pods", c, 0},
		{"namespaces", "*", -1},
	} {
		m.eventually(want.informerType+" of "+want.namespace, func() bool {
			objects := m.value("k8s_informer_objects", want.informerType, want.namespace)
			return m.value("k8s_informer_watch_connected", want.informerType, want.namespace) == 1 &&
				(objects == want.objects || want.objects < 0 && objects > 0)
		})
		if v := m.value("k8s_informer_duplicates", want.informerType, want.namespace); v > 0 { // -1: no series
			t.Errorf("%s of %s: %v duplicates", want.informerType, want.namespace, v)
		}
	}
	if n := len(m.samples().Select("k8s_informer_synced")); n != 8 {
		t.Errorf("%d informers are reported, want 8", n)
	}
}
