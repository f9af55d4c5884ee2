package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

const regressions = "k8s_informer_resource_version_regressions_total"

// A watch without a resourceVersion begins with objects in any order of their versions. That is not a regression
// (S12), but a version that goes backwards later is.
func TestFirstEventsOfAWatchFromAnyVersion(t *testing.T) {
	for _, from := range []string{"", "0"} {
		t.Run("from "+from, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				server := newFakeServer()
				w, err := informer.NewListerWatcher(obs, pods, server).Watch(metav1.ListOptions{ResourceVersion: from})
				if err != nil {
					t.Fatal(err)
				}
				defer w.Stop()
				go drain(w)
				stream := <-server.streams
				for i, step := range []struct {
					event       watch.EventType
					object      *corev1.Pod
					regressions float64
					received    float64
				}{
					{watch.Added, pod("a", 50), 0, 0},
					{watch.Added, pod("b", 30), 0, 0},
					{watch.Added, pod("c", 40), 0, 0},
					{watch.Modified, pod("b", 60), 0, 60},
					{watch.Added, pod("d", 61), 0, 61},
					{watch.Added, pod("e", 59), 1, 59},
					{watch.Bookmark, bookmark(58), 2, 58},
					{watch.Deleted, pod("a", 62), 2, 62},
				} {
					stream.send(step.event, step.object)
					synctest.Wait()
					s := metricstest.Take(t, reg)
					if s[regressions] != step.regressions || s["k8s_informer_resource_version{stage=received}"] != step.received {
						t.Errorf("step %d: %v regressions, at version %v", i, s[regressions], s["k8s_informer_resource_version{stage=received}"])
					}
				}
			})
		})
	}
}

// A watch that resumes from a version sends later events, in order.
func TestFirstEventsOfAWatchFromAVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := newFakeServer()
		server.list = func(metav1.ListOptions) (runtime.Object, error) { return podList(55), nil }
		lw := informer.NewListerWatcher(obs, pods, server)
		_, _ = lw.List(metav1.ListOptions{})
		w, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "55"})
		defer w.Stop()
		go drain(w)
		(<-server.streams).send(watch.Added, pod("a", 50))
		synctest.Wait()
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{regressions: 1})
	})
}

// A watch without a resourceVersion sends objects that the store has. For handlers they are unchanged: they are
// neither pending nor counted as objects twice.
func TestKnownObjectsOfAWatchFromAnyVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := newFakeServer()
		server.list = func(metav1.ListOptions) (runtime.Object, error) {
			return podList(0, pod("a", 50), pod("b", 30)), nil
		}
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{}))
		stop := start(t, inf)
		stream := <-server.streams
		for _, p := range []*corev1.Pod{pod("a", 50), pod("b", 30), pod("c", 40)} {
			stream.send(watch.Added, p)
		}
		time.Sleep(time.Minute)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_objects": 3, "k8s_informer_sync_lag_seconds": 0,
			"k8s_informer_handler_pending_events{handler=h}":         0,
			"k8s_informer_handler_duration_seconds_count{handler=h}": 5,
			"k8s_informer_unchanged_updates_total{cause=relist}":     2,
		})
		before := metricstest.Take(t, reg)
		stream.send(watch.Modified, pod("a", 60))
		stream.send(watch.Added, pod("d", 61))
		synctest.Wait()
		check(t, metricstest.Take(t, reg).Since(before), metricstest.Snapshot{
			"k8s_informer_event_lag_seconds_count": 2, "k8s_informer_objects": 1,
		})
		stop()
	})
}

// If an API server has no versions to resume from, each watch begins with all objects again. Without a store to
// count them in, they are not counted again, whether the watch continues or is stopped.
func TestWatchesFromAnyVersionWithoutAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := newFakeServer()
		server.list = func(metav1.ListOptions) (runtime.Object, error) {
			return podList(0, pod("a", 0), pod("b", 0)), nil
		}
		lw := informer.NewListerWatcher(obs, pods, server)
		_, _ = lw.List(metav1.ListOptions{})
		for range 3 {
			w, _ := lw.Watch(metav1.ListOptions{})
			stream := <-server.streams
			stream.send(watch.Added, pod("a", 0))
			stream.send(watch.Added, pod("b", 0))
			synctest.Wait()
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_objects": 2})
			<-w.ResultChan() // and the other is undone
			w.Stop()
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_objects": 2})
		}
	})
}

// A list at any version may be older than what an earlier reflector has seen through another API server. It is a
// regression only if the request excluded that.
func TestListFromAnyVersion(t *testing.T) {
	obs, reg := observertest.New(t)
	server := newFakeServer()
	lw := informer.NewListerWatcher(obs, pods, server)
	for _, step := range []struct {
		from        string
		version     int
		regressions float64
	}{
		{"0", 100, 0}, {"0", 90, 0}, {"90", 90, 0}, {"90", 80, 1}, {"", 70, 2}, {"0", 60, 2},
	} {
		server.list = func(metav1.ListOptions) (runtime.Object, error) { return podList(step.version), nil }
		_, _ = lw.List(metav1.ListOptions{ResourceVersion: step.from})
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			regressions: step.regressions, "k8s_informer_resource_version{stage=received}": float64(step.version),
		})
	}
}
