package informer_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// S42: an informer is degraded from the time its sync lag exceeds 5 s until 30 s after it last did. The application is called
// once for each change, even if an earlier call panicked.
func TestDegradedBySyncLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		lw := informer.NewListerWatcher(obs, pods, server)
		var mu sync.Mutex
		var calls []string
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			informer.NotifyDegraded(ctx, obs, func(id informer.ID, degraded bool) {
				mu.Lock()
				defer mu.Unlock()
				calls = append(calls, fmt.Sprint(id.Type(), " ", degraded))
				panic("the first call and all others")
			})
		}()
		degraded := func(when string, want float64, called ...string) {
			t.Helper()
			synctest.Wait()
			if s := metricstest.Take(t, reg); s["k8s_informer_degraded"] != want || informer.Statuses(obs)[0].Degraded != (want == 1) {
				t.Errorf("%s: degraded is %v, with a lag of %v", when, s["k8s_informer_degraded"], s["k8s_informer_sync_lag_seconds"])
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(calls, called) {
				t.Errorf("%s: calls %v, want %v", when, calls, called)
			}
		}
		_, _ = lw.List(metav1.ListOptions{})
		w, _ := lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
		time.Sleep(time.Hour)
		degraded("healthy", 0)
		w.Stop()
		time.Sleep(4 * time.Second)
		degraded("after 4 s without a watch", 0)
		time.Sleep(8 * time.Second)
		degraded("after 12 s", 1, "pods true")
		w, _ = lw.Watch(metav1.ListOptions{ResourceVersion: "1"})
		time.Sleep(29 * time.Second)
		degraded("soon after the next watch", 1, "pods true")
		time.Sleep(10 * time.Second)
		degraded("half a minute later", 0, "pods true", "pods false")
		w.Stop()
		time.Sleep(20 * time.Second)
		degraded("again", 1, "pods true", "pods false", "pods true")
		lw.Close()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		mu.Lock()
		if len(calls) != 4 || calls[3] != "pods false" {
			t.Errorf("at the end of the informer: %v", calls)
		}
		mu.Unlock()
		cancel()
		<-done
	})
}

// S15, S42: a handler that finishes an event more than 5 s after its receipt makes the informer degraded, even if its state was not
// read in the meantime.
func TestDegradedByEventLag(t *testing.T) {
	for took, want := range map[time.Duration]float64{4 * time.Second: 0, 6 * time.Second: 1} {
		synctest.Test(t, func(t *testing.T) {
			obs, reg := observertest.New(t)
			server := fakeapi.NewServer()
			server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(10), nil }
			inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
			addHandler(t, inf, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { time.Sleep(took) }})
			stop := start(t, inf)
			defer stop()
			stream := <-server.Streams
			synctest.Wait()
			stream.Send(watch.Added, fakeapi.Pod("b", 11))
			time.Sleep(10 * time.Second)
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_sync_lag_seconds": 0, "k8s_informer_degraded": want})
			time.Sleep(30 * time.Second)
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_degraded": 0})
		})
	}
}

// Objectives of the program replace those of the catalog: an event that takes 3 s is late by them, not by the default.
func TestObjectives(t *testing.T) {
	for name, c := range map[string]struct {
		objectives    collectors.Objectives
		fails         bool
		during, after float64
	}{
		"default":   {},
		"sync lag":  {collectors.Objectives{SyncLag: 2 * time.Second}, true, 1, 1},
		"event lag": {collectors.Objectives{EventLag: 2 * time.Second}, false, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			obs, reg := observertest.New(t, func(o *collectors.Options) { o.Objectives = c.objectives })
			server := fakeapi.NewServer()
			server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(10), nil }
			inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
			addHandler(t, inf, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { time.Sleep(3 * time.Second) }})
			stop := start(t, inf)
			defer stop()
			stream := <-server.Streams
			synctest.Wait()
			time.Sleep(2 * time.Second)
			stream.Send(watch.Added, fakeapi.Pod("b", 11))
			time.Sleep(2500 * time.Millisecond)
			if err := informer.AssertSynced(t.Context(), obs, informer.AssertOptions{NoRequests: true}); (err != nil) != c.fails {
				t.Errorf("%s: AssertSynced returns %v", name, err)
			}
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_degraded": c.during})
			time.Sleep(time.Second)
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_degraded": c.after})
		})
	}
}
