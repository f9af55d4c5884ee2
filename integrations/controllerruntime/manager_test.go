package controllerruntime_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// build adds a controller to a manager, as SetupWithManager does.
func build(t *testing.T, b *builder.Builder, reconcile reconcile.Func) {
	t.Helper()
	if err := b.Complete(reconcile); err != nil {
		t.Fatal(err)
	}
}

func succeed(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil }

// TestHandlerNames: handlers are named after their controller, so that two controllers that watch a resource do not share
// series. So are handlers of metadata, of several namespaces, and those that a controller adds once it runs.
func TestHandlerNames(t *testing.T) {
	a, b := stacktest.Namespace(t), stacktest.Namespace(t)
	for name, namespaces := range map[string]map[string]cache.Config{"one namespace": {a: {}}, "two namespaces": {a: {}, b: {}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newManager(t, stacktest.Config(t), ctrl.Options{Cache: cache.Options{DefaultNamespaces: namespaces}})
			build(t, ctrl.NewControllerManagedBy(m).Named("first").For(&corev1.Secret{}).Owns(&corev1.ConfigMap{}), succeed)
			build(t, ctrl.NewControllerManagedBy(m).Named("second").For(&corev1.ConfigMap{}).
				WatchesMetadata(&corev1.ServiceAccount{}, &handler.EnqueueRequestForObject{}), succeed)
			m.run()
			want := map[string][]string{"configmaps": {"first", "second"}, "secrets": {"first"}, "serviceaccounts": {"second"}}
			for namespace := range namespaces {
				m.eventually("the handlers have the names of their controllers", func() bool {
					got := map[string][]string{}
					for _, s := range m.samples().Select("k8s_informer_handler_pending_events", "watch_namespace", namespace) {
						got[s.Labels["informer_type"]] = append(got[s.Labels["informer_type"]], s.Labels["handler"])
						slices.Sort(got[s.Labels["informer_type"]])
					}
					return maps.EqualFunc(got, want, slices.Equal)
				})
			}
		})
	}
}

// TestWarmup: sources that start before the manager leads add their handlers under the name of the controller as well.
func TestWarmup(t *testing.T) {
	namespace := stacktest.Namespace(t)
	m := newManager(t, stacktest.Config(t), ctrl.Options{
		Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		LeaderElection: true, LeaderElectionResourceLockInterface: &ownLock{holder: "other"},
	})
	build(t, ctrl.NewControllerManagedBy(m).Named("warm").For(&corev1.ConfigMap{}).WithOptions(controller.Options{EnableWarmup: new(true)}), succeed)
	m.start()
	m.eventually("the handler has the name of its controller", func() bool {
		return len(m.samples().Select("k8s_informer_handler_pending_events", "informer_type", "configmaps", "handler", "warm")) == 1
	})
}

// TestEnd: the series of informers end with the manager, and a NewCache of the caller is used.
func TestEnd(t *testing.T) {
	namespace := stacktest.Namespace(t)
	var created atomic.Bool
	m := newManager(t, stacktest.Config(t), ctrl.Options{
		NewCache: func(config *rest.Config, options cache.Options) (cache.Cache, error) {
			created.Store(true)
			options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
			return cache.New(config, options)
		},
	})
	build(t, ctrl.NewControllerManagedBy(m).Named("end").For(&corev1.ConfigMap{}), succeed)
	m.run()
	m.eventually("the informer of the controller is synced", func() bool { return m.value("k8s_informer_synced", "configmaps", namespace) == 1 })
	if !created.Load() {
		t.Error("NewCache has not been called")
	}
	m.stop()
	// Informers may end a little later than the manager, as seen with controller-runtime v0.23.
	m.eventually("no series of an informer remains", func() bool {
		for _, s := range m.samples() {
			if strings.HasPrefix(s.Name, "k8s_informer_") && s.Name != "k8s_informer_label_overflow_total" && s.Name != "k8s_informer_ended" { // of the Observer
				return false
			}
		}
		return true
	})
}

// TestOwnInformers: NewInformer of the caller's cache options is used, and the informers are not decorated.
func TestOwnInformers(t *testing.T) {
	namespace := stacktest.Namespace(t)
	var created atomic.Bool
	m := newManager(t, stacktest.Config(t), ctrl.Options{Cache: cache.Options{
		DefaultNamespaces: map[string]cache.Config{namespace: {}},
		NewInformer: func(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			created.Store(true)
			return toolscache.NewSharedIndexInformer(lw, example, resync, indexers)
		},
	}})
	m.run()
	if err := m.GetClient().List(t.Context(), &corev1.ConfigMapList{}); err != nil {
		t.Fatal(err)
	}
	if !created.Load() || len(m.samples().Select("k8s_informer_synced")) > 0 {
		t.Errorf("NewInformer has been called: %v; %v", created.Load(), m.samples())
	}
}

// TestSeveralManagers: a process may have several managers with one name, one after another and at the same time, as tests
// with envtest have. They share their metrics in controller-runtime's registry, and the first of them may never start.
func TestSeveralManagers(t *testing.T) {
	config := stacktest.Config(t) // first, because it skips the test under -short
	t.Cleanup(func() {
		obs, err := collectors.New(metrics.Registry, collectors.Options{Name: "several"})
		var registered prometheus.AlreadyRegisteredError
		if !errors.As(err, &registered) || !metrics.Registry.Unregister(registered.ExistingCollector) {
			t.Error("the metrics are not in controller-runtime's registry", obs, err)
		}
	})
	create := func(namespace string) *runningManager {
		mgr, err := controllerruntime.NewManager(config,
			quiet(ctrl.Options{Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}}}),
			controllerruntime.Options{Name: "several"})
		if err != nil {
			t.Fatal(err)
		}
		m := &runningManager{Manager: mgr, t: t, registry: metrics.Registry.(*prometheus.Registry)}
		build(t, ctrl.NewControllerManagedBy(m).Named("several").For(&corev1.ConfigMap{}), succeed)
		return m
	}
	a, b := stacktest.Namespace(t), stacktest.Namespace(t)
	create(a)
	for range 2 {
		first, second := create(a), create(b)
		first.run()
		second.run()
		first.eventually("both informers are synced", func() bool {
			return first.value("k8s_informer_synced", "configmaps", a) == 1 && first.value("k8s_informer_synced", "configmaps", b) == 1
		})
		first.stop()
		second.stop()
	}
}

// TestObserver: an Observer may be passed in, and an Observer that cannot be created is an error.
func TestObserver(t *testing.T) {
	obs, registry := observertest.New(t)
	mgr, err := controllerruntime.NewManager(unreachable(), quiet(ctrl.Options{}), controllerruntime.Options{Observer: obs})
	if err != nil {
		t.Fatal(err)
	}
	if got, none := controllerruntime.ObserverOf(mgr), controllerruntime.ObserverOf(nil); got != obs || none != nil {
		t.Errorf("the manager's Observer is %p, want %p; without a manager it is %p", got, obs, none)
	}
	if _, err := newController(t, mgr, controller.Options{}).Reconcile(t.Context(), ctrl.Request{}); err != nil {
		t.Fatal(err)
	}
	if n := metricstest.Gather(t, registry).Sum("controller_reconcile_total", "result", "success"); n != 1 {
		t.Errorf("%v reconciles, want 1", n)
	}
	if _, err := controllerruntime.NewManager(unreachable(), quiet(ctrl.Options{}), controllerruntime.Options{}); err == nil {
		t.Error("no error for a manager without a name")
	}
	if _, err := controllerruntime.NewManager(nil, quiet(ctrl.Options{}), controllerruntime.Options{}); err == nil || err.Error() != "must specify Config" {
		t.Errorf("without a configuration: %v", err)
	}
}

// TestCluster: an additional cluster has separate metrics.
func TestCluster(t *testing.T) {
	namespace := stacktest.Namespace(t)
	m := newManager(t, unreachable(), ctrl.Options{})
	west, err := collectors.New(m.registry, collectors.Options{Name: "west"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := controllerruntime.NewCluster(west, stacktest.Config(t), func(o *cluster.Options) {
		o.Cache.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	})
	if err == nil {
		err = m.Add(c)
	}
	if err != nil {
		t.Fatal(err)
	}
	build(t, ctrl.NewControllerManagedBy(m).Named("remote").
		WatchesRawSource(source.Kind(c.GetCache(), &corev1.ConfigMap{}, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})), succeed)
	m.run()
	m.eventually("the informer of the other cluster is reported", func() bool {
		return m.samples().Sum("k8s_informer_handlers", "name", "west", "informer_type", "configmaps") == 1 &&
			m.samples().Sum("k8s_client_requests_total", "name", "west", "verb", "watch", "resource", "configmaps") == 1 &&
			len(m.samples().Select("k8s_informer_handler_pending_events", "name", "west", "handler", "remote")) == 1
	})
}
