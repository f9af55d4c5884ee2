//go:build faults

package faults

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
	"github.com/informer-exporter/informer-exporter/deploy/local/faultproxy"
	"github.com/informer-exporter/informer-exporter/deploy/local/stack"
	"github.com/informer-exporter/informer-exporter/deploy/local/stack/stacktest"
)

// What a test may have to leave out of its comparison, because chance or time decide about it.
const (
	lastEvent = "k8s_informer_last_event_timestamp_seconds"
	lastSync  = "k8s_informer_last_sync_duration_seconds"
	syncLag   = "k8s_informer_sync_lag_seconds"
	bookmarks = "k8s_informer_watch_events_total{type=bookmark}"
	// versions are etcd's, and left out everywhere.
	versions = "k8s_informer_resource_version{"
)

// changes is what a fault does to the series, without the prefix that they all have.
type changes map[string]float64

// snapshot also holds what follows from the rest: each object that an event brings says when it was written.
func (c changes) snapshot() metricstest.Snapshot {
	c = changes{
		"propagation_seconds_count": c["watch_events_total{type=added}"] + c["watch_events_total{type=modified}"],
	}.with(c)
	s := metricstest.Snapshot{}
	for series, value := range c {
		if value != 0 {
			s["k8s_informer_"+series] = value
		}
	}
	return s
}

// with returns the changes and others.
func (c changes) with(others changes) changes {
	all := maps.Clone(c)
	maps.Copy(all, others)
	return all
}

// What several faults have in common.
var (
	// reopened is a watch that was followed by another.
	reopened = changes{
		"watch_duration_seconds_count": 1, "coverage_gap_seconds_count": 1, "watches_total": 1,
	}
	// firstState is the first list and the watch after it.
	firstState = changes{
		"list_duration_seconds_count": 1, "list_items_count": 1, "relists_total{reason=initial}": 1,
		"sync_duration_seconds_count{result=success}": 1, "synced": 1, "watches_total": 1, "watch_connected": 1,
	}
)

// relisted is a full state that a lost watch made necessary, and the watch that followed.
func relisted(reason string) changes {
	return reopened.with(changes{
		"list_duration_seconds_count": 1, "list_items_count": 1, "relists_total{reason=" + reason + "}": 1,
		"sync_duration_seconds_count{result=success}": 1,
	})
}

// options of a rig.
type options struct {
	// plane is the control plane; the default is the one that the tests share.
	plane *stack.ControlPlane
	// lists makes the informer use LIST and then watch, as with clients and servers that have no streaming lists.
	lists bool
	// direct leaves the proxy out: what stands before a server may go on accepting connections when it has gone.
	direct bool
	// config changes the informer's client, for example whom it impersonates.
	config func(*rest.Config)
	// resync is the informer's resync period.
	resync time.Duration
	// above is put around the decorated ListerWatcher. Store and handlers are then not decorated.
	above func(cache.ListerWatcherWithContext) cache.ListerWatcherWithContext
}

// rig is a decorated informer of the ConfigMaps in a namespace of its own.
type rig struct {
	*testing.T
	// client is the administrator's, past gate and proxy.
	client    kubernetes.Interface
	namespace string
	registry  *prometheus.Registry
	gate      *gate
	proxy     *faultproxy.Proxy
	informer  cache.SharedIndexInformer
	stop      func()
}

func newRig(t *testing.T, o options) *rig {
	t.Helper()
	if o.plane == nil {
		o.plane = stacktest.ControlPlane(t)
	}
	admin := o.plane.Config()
	proxy, err := faultproxy.Start(o.plane.APIServer.Address, "")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, client: kubernetes.NewForConfigOrDie(admin), registry: prometheus.NewPedanticRegistry(), gate: &gate{}, proxy: proxy}
	namespace, err := r.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "fault-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.namespace = namespace.Name
	config := proxy.RESTConfig(admin)
	if o.direct {
		config = rest.CopyConfig(admin)
	}
	config.ContentType = runtime.ContentTypeJSON // which the gate can write
	config.Wrap(r.gate.wrap)
	if o.config != nil {
		o.config(config)
	}
	obs, err := collectors.New(r.registry, collectors.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(config)
	lw := capable{
		ListerWatcherWithContext: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return client.CoreV1().ConfigMaps(r.namespace).List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return client.CoreV1().ConfigMaps(r.namespace).Watch(ctx, o)
			},
		},
		noStreamingLists: o.lists,
	}
	id := collectors.For(corev1.SchemeGroupVersion.WithResource("configmaps"), r.namespace)
	informerOptions := cache.SharedIndexInformerOptions{ResyncPeriod: o.resync}
	if o.above != nil {
		decorated := obs.ListerWatcher(id, lw)
		t.Cleanup(decorated.Close)
		above := capable{ListerWatcherWithContext: o.above(decorated), noStreamingLists: o.lists}
		r.informer = cache.NewSharedIndexInformerWithOptions(above, &corev1.ConfigMap{}, informerOptions)
	} else {
		r.informer = obs.NewSharedIndexInformer(id, lw, &corev1.ConfigMap{}, informerOptions)
	}
	t.Cleanup(func() {
		if r.stop != nil {
			r.stop()
		}
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// capable says for a ListerWatcher whether it can have streaming lists.
type capable struct {
	cache.ListerWatcherWithContext
	noStreamingLists bool
}

func (c capable) IsWatchListSemanticsUnSupported() bool { return c.noStreamingLists }

func (c capable) List(o metav1.ListOptions) (runtime.Object, error) {
	return c.ListWithContext(context.Background(), o)
}

func (c capable) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return c.WatchWithContext(context.Background(), o)
}

// start runs the informer until the end of the test.
func (r *rig) start() {
	r.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); r.informer.RunWithContext(ctx) }()
	r.stop = func() { cancel(); <-done }
}

// startSynced runs the informer and waits until it is synced and connected.
func (r *rig) startSynced() metricstest.Snapshot {
	r.Helper()
	r.start()
	return r.waitFor("synced", synced)
}

// startBusy is startSynced, and an event on the watch: client-go takes a watch that ends within a second and without an
// event for a failure, and lists again.
func (r *rig) startBusy() metricstest.Snapshot {
	r.Helper()
	before := r.startSynced()
	r.create("busy")
	r.waitFor("the first event", func(s metricstest.Snapshot) bool {
		// In the order in which they are counted: then no part of it can follow.
		lag := "k8s_informer_event_lag_seconds_count"
		return s["k8s_informer_objects"] == before["k8s_informer_objects"]+1 && s[lag] == before[lag]+s["k8s_informer_handlers"]
	})
	return r.now() // a histogram is read later in a scrape than a gauge
}

func synced(s metricstest.Snapshot) bool {
	return s["k8s_informer_synced"] == 1 && s["k8s_informer_watch_connected"] == 1 && s["k8s_informer_last_sync_duration_seconds"] > 0
}

// now is what the registry reports.
func (r *rig) now() metricstest.Snapshot {
	r.Helper()
	return metricstest.Take(r, r.registry)
}

func (r *rig) waitFor(what string, condition func(metricstest.Snapshot) bool) metricstest.Snapshot {
	r.Helper()
	return metricstest.Eventually(r, r.registry, what, condition)
}

const (
	// patience is how long a change may take that must come.
	patience = 45 * time.Second
	// quiet is how long nothing more may change once everything has.
	quiet = 200 * time.Millisecond
)

// expect waits until what has changed is exactly what is wanted, and goes on to be for a moment.
func (r *rig) expect(before metricstest.Snapshot, want changes, except ...string) metricstest.Snapshot {
	r.Helper()
	return r.expectThat(before, func(metricstest.Snapshot) changes { return want }, except...)
}

// expectThat is expect for counts that depend on each other: want gets what has changed, by its full name.
func (r *rig) expectThat(before metricstest.Snapshot, want func(metricstest.Snapshot) changes, except ...string) metricstest.Snapshot {
	r.Helper()
	except = append(except, versions)
	equal := func(s metricstest.Snapshot) bool {
		changed := s.Since(before, except...)
		return maps.Equal(changed, want(changed).snapshot())
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if equal(r.now()) {
			break
		}
	}
	for end := time.Now().Add(quiet); ; time.Sleep(10 * time.Millisecond) {
		s := r.now()
		if !equal(s) || time.Now().After(end) {
			changed := s.Since(before, except...)
			changed.Equal(r, want(changed).snapshot())
			return s
		}
	}
}

// holds fails unless the store has exactly what the API server has, and the gauge says so.
func (r *rig) holds() {
	r.Helper()
	list, err := r.client.CoreV1().ConfigMaps(r.namespace).List(r.Context(), metav1.ListOptions{})
	if err != nil {
		r.Fatal(err)
	}
	stored := r.informer.GetStore().List()
	if len(stored) != len(list.Items) || int(r.now()["k8s_informer_objects"]) != len(list.Items) {
		r.Errorf("the API server has %d objects, the store %d, reported are %v", len(list.Items), len(stored), r.now()["k8s_informer_objects"])
	}
	versions := map[string]string{}
	for _, obj := range stored {
		versions[obj.(*corev1.ConfigMap).Name] = obj.(*corev1.ConfigMap).ResourceVersion
	}
	for _, item := range list.Items {
		if versions[item.Name] != item.ResourceVersion {
			r.Errorf("%s has version %s, the store has %s", item.Name, item.ResourceVersion, versions[item.Name])
		}
	}
}

func (r *rig) create(names ...string) {
	r.Helper()
	for _, name := range names {
		r.createWith(name, map[string]string{"some": "data"}) // without any, the server does not say when it was written
	}
}

func (r *rig) createWith(name string, data map[string]string) {
	r.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
	if _, err := r.client.CoreV1().ConfigMaps(r.namespace).Create(r.Context(), object, metav1.CreateOptions{}); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) update(name, value string) {
	r.Helper()
	patch := []byte(`{"data":{"value":"` + value + `"}}`)
	if _, err := r.client.CoreV1().ConfigMaps(r.namespace).Patch(r.Context(), name, "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) delete(name string) {
	r.Helper()
	if err := r.client.CoreV1().ConfigMaps(r.namespace).Delete(r.Context(), name, metav1.DeleteOptions{}); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) restore() {
	r.Helper()
	if err := r.proxy.Restore(); err != nil {
		r.Fatal(err)
	}
}

// handle adds a handler under a name.
func (r *rig) handle(name string, h cache.ResourceEventHandler) cache.ResourceEventHandlerRegistration {
	r.Helper()
	registration, err := r.informer.AddEventHandler(collectors.NamedHandler(name, h))
	if err != nil {
		r.Fatal(err)
	}
	return registration
}

var (
	configMap        = &corev1.ConfigMap{}
	fieldsEverything = fields.Everything()
)

// sinceResync is only there once a handler was resynced.
const sinceResync = "k8s_informer_handler_last_resync"
