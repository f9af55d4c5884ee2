package informer_test

import (
	"context"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// Regardless of how a watch ends after its client canceled it, it is not an error (S4), a disconnect (S6) or a
// failed sync (S2).
func TestCanceledWatches(t *testing.T) {
	for name, options := range map[string]metav1.ListOptions{"watch": {ResourceVersion: "1"}, "streaming list": streamingList} {
		for end, give := range map[string]func(cancel func(), s *fakeapi.Stream, w watch.Interface){
			"stopped": func(_ func(), _ *fakeapi.Stream, w watch.Interface) { w.Stop() },
			"stopped, then closed": func(_ func(), s *fakeapi.Stream, w watch.Interface) {
				w.Stop()
				s.Close()
			},
			"canceled, then closed": func(cancel func(), s *fakeapi.Stream, _ watch.Interface) {
				cancel()
				s.Close()
			},
			"canceled, then stopped": func(cancel func(), _ *fakeapi.Stream, w watch.Interface) {
				cancel()
				w.Stop()
			},
			"canceled, then failed": func(cancel func(), s *fakeapi.Stream, _ watch.Interface) {
				cancel()
				s.Fail(status(apierrors.NewInternalError(errTest)))
				s.Close()
			},
		} {
			t.Run(name+" "+end, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					obs, reg := observertest.New(t)
					server := fakeapi.NewServer()
					lw := informer.NewListerWatcher(obs, pods, server)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					w, err := lw.WatchWithContext(ctx, options)
					if err != nil {
						t.Fatal(err)
					}
					go drain(w)
					stream := <-server.Streams
					before := metricstest.Take(t, reg)
					give(cancel, stream, w)
					synctest.Wait()
					want := metricstest.Snapshot{}
					if before["k8s_informer_watch_connected"] == 1 {
						want = metricstest.Snapshot{"k8s_informer_watch_connected": -1, "k8s_informer_watch_duration_seconds_count": 1}
					}
					metricstest.Take(t, reg).Since(before, "k8s_informer_last_event").Equal(t, want)
					w.Stop()
					metricstest.Take(t, reg).Since(before, "k8s_informer_last_event").Equal(t, want)
				})
			})
		}
	}
}

// The same holds for a connection to a real API server, which fails in several ways once its request is canceled.
func TestCanceledWatchOfARealServer(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(stacktest.Config(t))
	maps := client.CoreV1().ConfigMaps(stacktest.Namespace(t))
	for name, options := range map[string]metav1.ListOptions{"watch": {}, "streaming list": streamingList} {
		for end, give := range map[string]func(cancel func(), w watch.Interface){
			"canceled": func(cancel func(), _ watch.Interface) { cancel() },
			"stopped":  func(_ func(), w watch.Interface) { w.Stop() },
		} {
			t.Run(name+" "+end, func(t *testing.T) {
				obs, reg := observertest.New(t)
				lw := informer.NewListerWatcher(obs, informer.ID{Resource: "configmaps"}, &cache.ListWatch{
					ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return maps.List(ctx, o) },
					WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
						return maps.Watch(ctx, o)
					},
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				w, err := lw.WatchWithContext(ctx, options)
				if err != nil {
					t.Fatal(err)
				}
				if options.SendInitialEvents != nil {
					for event := range w.ResultChan() {
						if event.Type == watch.Bookmark {
							break
						}
					}
				}
				before := metricstest.Take(t, reg)
				check(t, before, metricstest.Snapshot{"k8s_informer_watch_connected": 1})
				give(cancel, w)
				drain(w)
				w.Stop()
				metricstest.Take(t, reg).Since(before, "k8s_informer_last_event", "k8s_informer_sync_lag").Equal(t, metricstest.Snapshot{
					"k8s_informer_watch_connected": -1, "k8s_informer_watch_duration_seconds_count": 1,
				})
			})
		}
	}
}
