//go:build !clientgo_before_0_36

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

// An event that a Transform delays counts as lag, even without handlers and checks (S29). Before 0.36, client-go holds the lock of the
// queue while a Transform runs, and HasSynced waits for the lock, which stops the clock of synctest.
func TestEventThatIsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(5, fakeapi.Pod("a", 1)), nil }
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		release := make(chan struct{})
		if err := inf.SetTransform(func(obj any) (any, error) {
			if obj.(*corev1.Pod).Name == "blocks" {
				<-release
			}
			return obj, nil
		}); err != nil {
			t.Fatal(err)
		}
		stop := start(t, inf)
		stream := <-server.Streams
		lags := func(seconds float64) {
			t.Helper()
			synctest.Wait()
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_store_lag_seconds": seconds, "k8s_informer_sync_lag_seconds": seconds})
		}
		lags(0)
		stream.Send(watch.Modified, fakeapi.Pod("a", 6))
		time.Sleep(time.Second)
		lags(0)
		stream.Send(watch.Added, fakeapi.Pod("blocks", 7))
		time.Sleep(10 * time.Second)
		stream.Send(watch.Modified, fakeapi.Pod("a", 8))
		time.Sleep(20 * time.Second)
		lags(30)
		close(release)
		lags(0)
		stop()
	})
}
