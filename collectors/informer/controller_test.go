package informer_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// Lists, events, lag, reads and drops are observed, and all series are deleted when Run returns.
func TestInformerWithOneHandler(t *testing.T) {
	for _, indexers := range []cache.Indexers{nil, {cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}} {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(10, fakeapi.Pod("a", 5)), nil }
		calls := make(chan string)
		store, controller := informer.NewInformerWithOptions(obs, pods, cache.InformerOptions{
			ListerWatcher: server,
			ObjectType:    &corev1.Pod{},
			Indexers:      indexers,
			Handler: informer.NamedHandler("one", cache.ResourceEventHandlerDetailedFuncs{
				AddFunc: func(obj any, isInInitialList bool) {
					calls <- "add " + obj.(*corev1.Pod).Name + map[bool]string{true: " initially"}[isInInitialList]
				},
				UpdateFunc: func(any, any) { calls <- "update" },
				DeleteFunc: func(any) { calls <- "delete" },
			}),
			Transform: func(obj any) (any, error) {
				if obj.(*corev1.Pod).Name == "dropped" {
					return nil, errors.New("dropped")
				}
				return obj, nil
			},
		})
		if controller.HasSynced() || controller.LastSyncResourceVersion() != "" {
			t.Error("the state is not that of a controller that has not been started")
		}
		indexer, ok := store.(cache.Indexer)
		if !ok {
			t.Fatal("client-go's store is an Indexer, the decorated store is not")
		}
		if err := indexer.AddIndexers(cache.Indexers{"late": cache.MetaNamespaceIndexFunc}); err != nil {
			t.Error(err)
		}
		stop, done := make(chan struct{}), make(chan struct{})
		go func() { defer close(done); controller.Run(stop) }()
		expect(t, calls, "add a initially")
		stream := <-server.Streams
		if !cache.WaitForCacheSync(stop, controller.HasSynced) {
			t.Fatal("not synced")
		}
		metricstest.Eventually(t, reg, "synced", func(s metricstest.Snapshot) bool {
			return s["k8s_informer_sync_duration_seconds_count{result=success}"] == 1 && s["k8s_informer_handler_duration_seconds_count{handler=one}"] == 1 &&
				s["k8s_informer_watch_connected"] == 1
		})
		before := metricstest.Take(t, reg) // a gauge can be older than a histogram of the same scrape
		stream.Send(watch.Added, fakeapi.Pod("b", 11))
		expect(t, calls, "add b")
		stream.Send(watch.Modified, fakeapi.Pod("b", 12))
		metricstest.Eventually(t, reg, "the handler is waited for", func(s metricstest.Snapshot) bool {
			return s["k8s_informer_handler_pending_events{handler=one}"] == 1
		})
		expect(t, calls, "update")
		stream.Send(watch.Deleted, fakeapi.Pod("b", 13))
		expect(t, calls, "delete")
		_, _, _ = store.GetByKey("default/a")
		_, _, _ = store.GetByKey("default/b")
		metricstest.Eventually(t, reg, "handled", func(s metricstest.Snapshot) bool {
			return s["k8s_informer_event_lag_seconds_count"] == 3
		})
		metricstest.Take(t, reg).Since(before, "k8s_informer_last_event", "k8s_informer_sync_lag", "k8s_informer_resource_version{").Equal(t, metricstest.Snapshot{
			"k8s_informer_cache_hits_total":                            1,
			"k8s_informer_cache_misses_total":                          1,
			"k8s_informer_event_lag_seconds_count":                     3,
			"k8s_informer_handler_duration_seconds_count{handler=one}": 3,
			"k8s_informer_watch_events_total{type=added}":              1,
			"k8s_informer_watch_events_total{type=modified}":           1,
			"k8s_informer_watch_events_total{type=deleted}":            1,
		})
		stream.Send(watch.Added, fakeapi.Pod("dropped", 14))
		metricstest.Eventually(t, reg, "the drop is not waited for", func(s metricstest.Snapshot) bool {
			return s["k8s_informer_watch_events_total{type=added}"] == 2 && s["k8s_informer_handler_pending_events{handler=one}"] == 0 && s["k8s_informer_objects"] == 1
		})
		close(stop)
		<-done
		if s := metricstest.Take(t, reg); len(s) != 0 {
			t.Errorf("after the end:\n%s", s)
		}
	}
}

func expect(t *testing.T, calls <-chan string, want string) {
	t.Helper()
	select {
	case got := <-calls:
		if got != want {
			t.Errorf("the handler got %q, want %q", got, want)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("the handler did not get %q", want)
	}
}

// The decorator must not add a handler if the program has none: client-go fails as it does without the library.
func TestInformerWithoutHandler(t *testing.T) {
	obs, reg := observertest.New(t)
	_, controller := informer.NewInformerWithOptions(obs, pods, cache.InformerOptions{ListerWatcher: fakeapi.NewServer(), ObjectType: &corev1.Pod{}})
	if s := metricstest.Take(t, reg); s["k8s_informer_handlers"] != 0 {
		t.Error("a handler is reported")
	}
	stop := make(chan struct{})
	close(stop)
	controller.Run(stop)
	if s := metricstest.Take(t, reg); len(s) != 0 {
		t.Errorf("after the end:\n%s", s)
	}
}

// client-go holds the lock of its queue while it transforms, and while it calls a slow handler with a long queue. A
// scrape must wait for neither.
func TestScrapeDoesNotWaitForATransform(t *testing.T) {
	obs, reg := observertest.New(t)
	server := fakeapi.NewServer()
	transforming, release := make(chan struct{}), make(chan struct{})
	_, controller := informer.NewInformerWithOptions(obs, pods, cache.InformerOptions{
		ListerWatcher: server,
		ObjectType:    &corev1.Pod{},
		Handler:       cache.ResourceEventHandlerFuncs{},
		Transform: func(obj any) (any, error) {
			close(transforming)
			<-release
			return obj, nil
		},
	})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); controller.Run(stop) }()
	stream := <-server.Streams
	stream.Send(watch.Added, fakeapi.Pod("a", 2))
	<-transforming
	scraped := make(chan metricstest.Snapshot, 1)
	go func() { scraped <- metricstest.Take(t, reg) }()
	select {
	case s := <-scraped:
		check(t, s, metricstest.Snapshot{"k8s_informer_watch_events_total{type=added}": 1})
	case <-time.After(30 * time.Second):
		t.Error("the scrape waits for the Transform")
	}
	close(release)
	close(stop)
	<-done
}
