package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// TestManager runs the controller on a real API server: reads of its client and events of its source are reported.
func TestManager(t *testing.T) {
	namespace := stacktest.Namespace(t)
	m := start(t, ctrl.Options{Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}}})

	key := client.ObjectKey{Namespace: namespace, Name: "a"}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, Annotations: map[string]string{owner: "us"},
	}}
	if err := m.GetClient().Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	var got corev1.ConfigMap
	m.eventually("the controller has set the label", func() bool {
		return m.GetClient().Get(t.Context(), key, &got) == nil && got.Labels[owner] == "us"
	})
	m.eventually("all events are handled", func() bool {
		return m.value("k8s_informer_event_lag_seconds_count", "configmaps", namespace) >= 2 &&
			m.value("k8s_informer_handler_pending_events", "configmaps", namespace) == 0
	})

	hits, misses := m.value("k8s_informer_cache_hits_total", "configmaps", namespace), m.value("k8s_informer_cache_misses_total", "configmaps", namespace)
	if err := m.GetClient().Get(t.Context(), key, &got); err != nil {
		t.Fatal(err)
	}
	if err := m.GetClient().Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "none"}, &got); !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	var list corev1.ConfigMapList
	if err := m.GetClient().List(t.Context(), &list, client.InNamespace(namespace)); err != nil || len(list.Items) == 0 {
		t.Fatal(len(list.Items), err)
	}
	for _, want := range []struct {
		metric string
		value  float64
	}{
		{"k8s_informer_cache_hits_total", hits + 1},
		{"k8s_informer_cache_misses_total", misses + 1},
		{"k8s_informer_relists_total", 1},
		{"k8s_informer_synced", 1},
		{"k8s_informer_watch_connected", 1},
		{"k8s_informer_handlers", 1},
	} {
		if v := m.value(want.metric, "configmaps", namespace); v != want.value {
			t.Errorf("%s is %v, want %v", want.metric, v, want.value)
		}
	}
	if lists := m.value("k8s_informer_cache_lists_total", "configmaps", namespace); lists < 1 {
		t.Errorf("%v lists of the cache", lists)
	}
	if n := m.value("k8s_informer_watch_events_total", "configmaps", namespace); n < 2 {
		t.Errorf("%v events", n)
	}
}

// TestRepresentations: informers of unstructured objects and metadata have the informer type of their resource, and those of
// cluster-scoped resources watch all namespaces.
func TestRepresentations(t *testing.T) {
	namespace := stacktest.Namespace(t)
	var transformed atomic.Bool
	m := start(t, ctrl.Options{Cache: cache.Options{
		DefaultNamespaces: map[string]cache.Config{namespace: {}},
		DefaultTransform:  func(obj any) (any, error) { transformed.Store(true); return obj, nil },
	}})
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
	m := start(t, ctrl.Options{Cache: cache.Options{
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
	for _, list := range []client.ObjectList{&corev1.SecretList{}, &corev1.ServiceList{}, &corev1.ServiceAccountList{}, &corev1.PodList{}, &corev1.NamespaceList{}} {
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
		if v := m.value("k8s_informer_duplicates", want.informerType, want.namespace); v != 0 {
			t.Errorf("%s of %s: %v duplicates", want.informerType, want.namespace, v)
		}
	}
	if n := len(m.samples().Select("k8s_informer_synced")); n != 8 {
		t.Errorf("%d informers are reported, want 8", n)
	}
}

// TestEnd: the series of informers end with the manager.
func TestEnd(t *testing.T) {
	m := start(t, ctrl.Options{})
	m.stop()
	for _, s := range m.samples() {
		if strings.HasPrefix(s.Name, "k8s_informer_") && s.Name != "k8s_informer_label_overflow_total" { // of the Observer
			t.Errorf("%s remains", s.Name)
		}
	}
}

type runningManager struct {
	ctrl.Manager
	*testing.T
	registry *prometheus.Registry
	stop     func()
}

func start(t *testing.T, options ctrl.Options) *runningManager {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	options.Metrics = server.Options{BindAddress: "0"}
	again := true // every test uses the name of the controller
	options.Controller = config.Controller{SkipNameValidation: &again}
	mgr, err := newManager(stacktest.Config(t), registry, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	m := &runningManager{Manager: mgr, T: t, registry: registry}
	stopped := false
	m.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(m.stop)
	scopes := slices.Collect(maps.Keys(options.Cache.DefaultNamespaces))
	if len(scopes) == 0 {
		scopes = []string{"*"}
	}
	for _, scope := range scopes {
		m.eventually("the informer of the controller is synced and connected", func() bool {
			return m.value("k8s_informer_synced", "configmaps", scope) == 1 && m.value("k8s_informer_watch_connected", "configmaps", scope) == 1
		})
	}
	return m
}

func (m *runningManager) eventually(what string, condition func() bool) {
	m.Helper()
	await.True(m.T, what, condition)
}

func (m *runningManager) samples() metricstest.Samples {
	m.Helper()
	return metricstest.Gather(m.T, m.registry)
}

// value returns the sum of a metric for an informer, or -1 without series.
func (m *runningManager) value(metric, informerType, namespace string) float64 {
	m.Helper()
	series := m.samples().Select(metric, "informer_type", informerType, "watch_namespace", namespace)
	if len(series) == 0 {
		return -1
	}
	return series.Sum(metric)
}
