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
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
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
				server := fakeapi.NewServer()
				w, err := informer.NewListerWatcher(obs, pods, server).Watch(metav1.ListOptions{ResourceVersion: from})
				if err != nil {
					t.Fatal(err)
				}
				defer w.Stop()
				go drain(w)
				stream := <-server.Streams
				for i, step := range []struct {
					event       watch.EventType
					object      *corev1.Pod
					regressions float64
					received    float64
				}{
					{watch.Added, fakeapi.Pod("a", 50), 0, 0},
					{watch.Added, fakeapi.Pod("b", 30), 0, 0},
					{watch.Added, fakeapi.Pod("c", 40), 0, 0},
					{watch.Modified, fakeapi.Pod("b", 60), 0, 60},
					{watch.Added, fakeapi.Pod("d", 61), 0, 61},
					{watch.Added, fakeapi.Pod("e", 59), 1, 59},
					{watch.Bookmark, fakeapi.Bookmark(58), 2, 58},
					{watch.Deleted, fakeapi.Pod("a", 62), 2, 62},
				} {
					stream.Send(step.event, step.object)
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
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(55), nil }
		lw := informer.NewListerWatcher(obs, pods, server)
		_, _ = lw.List(metav1.ListOptions{})
		w, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "55"})
		defer w.Stop()
		go drain(w)
		(<-server.Streams).Send(watch.Added, fakeapi.Pod("a", 50))
		synctest.Wait()
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{regressions: 1})
	})
}

// A watch without a resourceVersion sends objects that the store has. For handlers they are unchanged: they are
// neither pending nor counted as objects twice.
func TestKnownObjectsOfAWatchFromAnyVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			return fakeapi.PodList(0, fakeapi.Pod("a", 50), fakeapi.Pod("b", 30)), nil
		}
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{}))
		stop := start(t, inf)
		stream := <-server.Streams
		for _, p := range []*corev1.Pod{fakeapi.Pod("a", 50), fakeapi.Pod("b", 30), fakeapi.Pod("c", 40)} {
			stream.Send(watch.Added, p)
		}
		time.Sleep(time.Minute)
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			"k8s_informer_objects": 3, "k8s_informer_sync_lag_seconds": 0,
			"k8s_informer_handler_pending_events{handler=h}":         0,
			"k8s_informer_handler_duration_seconds_count{handler=h}": 5,
			"k8s_informer_unchanged_updates_total{cause=relist}":     2,
		})
		before := metricstest.Take(t, reg)
		stream.Send(watch.Modified, fakeapi.Pod("a", 60))
		stream.Send(watch.Added, fakeapi.Pod("d", 61))
		synctest.Wait()
		check(t, metricstest.Take(t, reg).Since(before), metricstest.Snapshot{
			"k8s_informer_event_lag_seconds_count": 2, "k8s_informer_objects": 1,
		})
		stop()
	})
}

// If an API server has no versions to resume from, each watch begins with all objects again. Without a store, they are not
// counted again, whether the watch continues or is stopped.
func TestWatchesFromAnyVersionWithoutAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			return fakeapi.PodList(0, fakeapi.Pod("a", 0), fakeapi.Pod("b", 0)), nil
		}
		lw := informer.NewListerWatcher(obs, pods, server)
		_, _ = lw.List(metav1.ListOptions{})
		for range 3 {
			w, _ := lw.Watch(metav1.ListOptions{})
			stream := <-server.Streams
			stream.Send(watch.Added, fakeapi.Pod("a", 0))
			stream.Send(watch.Added, fakeapi.Pod("b", 0))
			synctest.Wait()
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_objects": 2})
			<-w.ResultChan() // and the other is undone
			w.Stop()
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_objects": 2})
		}
	})
}

// A list at any version may be older than the last version that an earlier reflector received from another API server. It is a
// regression only if the request did not allow any version.
func TestListFromAnyVersion(t *testing.T) {
	obs, reg := observertest.New(t)
	server := fakeapi.NewServer()
	lw := informer.NewListerWatcher(obs, pods, server)
	for _, step := range []struct {
		from        string
		version     int
		regressions float64
	}{
		{"0", 100, 0}, {"0", 90, 0}, {"90", 90, 0}, {"90", 80, 1}, {"", 70, 2}, {"0", 60, 2},
	} {
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(step.version), nil }
		_, _ = lw.List(metav1.ListOptions{ResourceVersion: step.from})
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{
			regressions: step.regressions, "k8s_informer_resource_version{stage=received}": float64(step.version),
		})
	}
}
