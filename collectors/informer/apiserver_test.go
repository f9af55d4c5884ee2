package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// rig is a decorated factory on a namespace of a real API server.
type rig struct {
	*testing.T
	client    kubernetes.Interface
	namespace string
	registry  *prometheus.Registry
	obs       *collectors.Observer
	factory   informers.SharedInformerFactory
}

// newRig returns a factory that connects to the server with the given configuration.
func newRig(t *testing.T, config *rest.Config, change ...func(*collectors.Options)) *rig {
	t.Helper()
	r := &rig{
		T:         t,
		client:    kubernetes.NewForConfigOrDie(stacktest.Config(t)),
		namespace: stacktest.Namespace(t),
		registry:  prometheus.NewPedanticRegistry(),
	}
	options := collectors.Options{Name: "test"}
	for _, f := range change {
		f(&options)
	}
	obs, err := collectors.New(r.registry, options)
	if err != nil {
		t.Fatal(err)
	}
	r.obs = obs
	r.factory = informer.NewSharedInformerFactory(obs, kubernetes.NewForConfigOrDie(config), 0, informer.FactoryOptions{Namespace: r.namespace})
	return r
}

func (r *rig) start() {
	r.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r.factory.Start(ctx.Done())
	r.Cleanup(func() { cancel(); r.factory.Shutdown() })
}

func (r *rig) waitFor(what string, condition func(metricstest.Snapshot) bool) metricstest.Snapshot {
	r.Helper()
	return metricstest.Eventually(r, r.registry, what, condition)
}

func (r *rig) create(name string) {
	r.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"made": "here"}} // without data it has no managedFields
	_, err := r.client.CoreV1().ConfigMaps(r.namespace).Create(r.Context(), object, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		r.Fatal(err)
	}
}

// volatile are the series that change independently of the test: bookmarks arrive at any time, each is received before it is
// stored, and versions come from etcd.
var volatile = []string{
	"k8s_informer_last_event", "k8s_informer_watch_events_total{type=bookmark}", "k8s_informer_resource_version{",
	"k8s_informer_store_lag_seconds", "k8s_informer_sync_lag_seconds",
}

func synced(s metricstest.Snapshot) bool {
	return s["k8s_informer_synced"] == 1 && s["k8s_informer_watch_connected"] == 1 && s["k8s_informer_last_sync_duration_seconds"] > 0
}

// syncCounted is for tests that compare with an earlier or a later snapshot: the sync is counted after the gauges have changed.
func syncCounted(s metricstest.Snapshot) bool {
	return synced(s) && s["k8s_informer_sync_duration_seconds_count{result=success}"] > 0
}

// Listers of a decorated factory count reads (S1).
func TestListersOfTheFactoryCount(t *testing.T) {
	r := newRig(t, stacktest.Config(t))
	r.create("here")
	lister := r.factory.Core().V1().ConfigMaps().Lister().ConfigMaps(r.namespace)
	r.start()
	r.waitFor("synced", syncCounted)
	before := metricstest.Take(t, r.registry)
	if _, err := lister.Get("here"); err != nil {
		t.Fatal(err)
	}
	if _, err := lister.Get("not-here"); !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	metricstest.Take(t, r.registry).Since(before, volatile...).Equal(t, metricstest.Snapshot{
		"k8s_informer_cache_hits_total": 1, "k8s_informer_cache_misses_total": 1,
	})
}

// The same objects arrive by a streaming list, the default of client and server, and by LIST, with the same metrics
// (S2).
func TestStreamingListsCountLikeLists(t *testing.T) {
	stacktest.Config(t)
	const objects = 7
	counts := map[bool]metricstest.Snapshot{}
	for _, streaming := range []bool{true, false} {
		t.Run(fmt.Sprintf("WatchListClient=%t", streaming), func(t *testing.T) {
			featuretesting.SetFeatureDuringTest(t, features.WatchListClient, streaming)
			requests := &requestCounter{}
			config := rest.CopyConfig(stacktest.Config(t))
			config.Wrap(requests.wrap)
			r := newRig(t, config)
			for n := range objects {
				r.create(fmt.Sprint("object-", n))
			}
			// A LIST at version 0 may be older than the last write.
			await.True(t, "all objects in the watch cache", func() bool {
				list, err := r.client.CoreV1().ConfigMaps(r.namespace).List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
				return err == nil && len(list.Items) >= objects
			})
			r.factory.Core().V1().ConfigMaps().Informer()
			before := metricstest.Take(t, r.registry)
			r.start()
			r.waitFor("synced", syncCounted)
			after := metricstest.Take(t, r.registry)
			counts[streaming] = after.Since(before, "k8s_informer_last_", "k8s_informer_sync_lag", "k8s_informer_resource_version{", "k8s_informer_list_pages")
			counts[streaming]["items"] = after["k8s_informer_list_items_sum"]
			if lists := requests.lists.Load(); (lists == 0) != streaming {
				t.Errorf("%d LIST requests were sent", lists)
			}
		})
	}
	want := metricstest.Snapshot{
		"k8s_informer_list_duration_seconds_count":                 1,
		"k8s_informer_list_items_count":                            1,
		"items":                                                    objects + 1, // and kube-root-ca.crt, if a controller manager creates it
		"k8s_informer_objects":                                     objects + 1,
		"k8s_informer_relists_total{reason=initial}":               1,
		"k8s_informer_sync_duration_seconds_count{result=success}": 1,
		"k8s_informer_synced":                                      1,
		"k8s_informer_watches_total":                               1,
		"k8s_informer_watch_connected":                             1,
	}
	if counts[true]["items"] == objects { // no controller manager runs
		want["items"], want["k8s_informer_objects"] = objects, objects
	}
	counts[true].Equal(t, want)
	counts[false].Equal(t, counts[true])
}

// An API server without streaming lists rejects them, and client-go uses LIST (O7): one more error and a relist with the reason
// fallback. Audits and freshness checks need no streaming lists.
func TestServerWithoutStreamingLists(t *testing.T) {
	t.Parallel()
	config := stacktest.Private(t, stack.Options{APIServerArgs: []string{"--feature-gates=WatchList=false"}}).Config()
	c := newChecked(t, configs{config, config, config}, collectors.Checks{Audit: 200 * time.Millisecond, Freshness: 100 * time.Millisecond}, nil)
	c.create("object")
	c.run()
	after := c.waitFor("checks", func(s metricstest.Snapshot) bool { return s[consistentCount] > 0 && s[freshCount] > 0 })
	for series, want := range map[string]float64{
		"k8s_informer_relists_total{reason=fallback}": 1, "k8s_informer_relists_total{reason=initial}": 0,
		"k8s_informer_sync_errors_total{error_type=other}": 1, "k8s_informer_list_pages_total": 1,
	} {
		if after[series] != want {
			t.Errorf("%s is %v, want %v", series, after[series], want)
		}
	}
	differencesOf(after).Equal(t, nothing)
}

// Each change is one event, each handler handles it once, and no other metric changes (S3, S19).
func TestEventsAreCountedExactly(t *testing.T) {
	r := newRig(t, stacktest.Config(t))
	inf := r.factory.Core().V1().ConfigMaps().Informer()
	for _, name := range []string{"one", "two"} {
		if _, err := inf.AddEventHandler(informer.NamedHandler(name, cache.ResourceEventHandlerFuncs{})); err != nil {
			t.Fatal(err)
		}
	}
	r.start()
	r.waitFor("synced", syncCounted)
	before := metricstest.Take(t, r.registry)
	maps := r.client.CoreV1().ConfigMaps(r.namespace)
	const n = 20
	for i := range n {
		name := fmt.Sprint("object-", i)
		r.create(name)
		if _, err := maps.Patch(t.Context(), name, "application/merge-patch+json", []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if err := maps.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	after := r.waitFor("handled", func(s metricstest.Snapshot) bool {
		// A scrape reads histograms after gauges.
		return s["k8s_informer_event_lag_seconds_count"]-before["k8s_informer_event_lag_seconds_count"] == 2*(2*n+n/2) &&
			s["k8s_informer_handler_pending_events{handler=one}"]+s["k8s_informer_handler_pending_events{handler=two}"]+s[syncLag] == 0
	})
	after.Since(before, volatile...).Equal(t, metricstest.Snapshot{
		"k8s_informer_propagation_seconds_count":                   2 * n,
		"k8s_informer_event_lag_seconds_count":                     2 * (2*n + n/2),
		"k8s_informer_handler_duration_seconds_count{handler=one}": 2*n + n/2,
		"k8s_informer_handler_duration_seconds_count{handler=two}": 2*n + n/2,
		"k8s_informer_watch_events_total{type=added}":              n,
		"k8s_informer_watch_events_total{type=modified}":           n,
		"k8s_informer_watch_events_total{type=deleted}":            n / 2,
		"k8s_informer_objects":                                     n / 2,
	})
	if keys := len(inf.GetIndexer().ListKeys()); float64(keys) != after["k8s_informer_objects"] {
		t.Errorf("the store has %d objects", keys)
	}
	if lag := after["k8s_informer_sync_lag_seconds"]; lag != 0 {
		t.Errorf("the sync lag is %v with everything handled", lag)
	}
}

// proxied puts a proxy between the client and the server.
func proxied(t *testing.T, config *rest.Config) *faultproxy.Proxy {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := faultproxy.Start(target.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	target.Host = proxy.Address()
	config.Host = target.String()
	return proxy
}

// requestCounter counts LIST requests on their way to the server.
type requestCounter struct {
	lists atomic.Int64
}

func (c *requestCounter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && r.URL.Query().Get("watch") == "" {
			c.lists.Add(1)
		}
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
