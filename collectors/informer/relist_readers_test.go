//go:build !clientgo_before_0_36

package informer_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// S29: readers that list while a relist replaces all objects see the old objects or the new ones, never a mixture. Every object is
// changed while the informer is disconnected. Since client-go 0.36 (AtomicFIFO), Replace of the store swaps them under its lock.
func TestReadersDuringARelist(t *testing.T) {
	t.Parallel()
	const (
		objects       = 100
		before, after = "before", "after"
	)
	config, namespace := rest.CopyConfig(stacktest.Config(t)), stacktest.Namespace(t)
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	maps := client.CoreV1().ConfigMaps(namespace)
	object := func(n int, state string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("object-", n)}, Data: map[string]string{"state": state}}
	}
	for n := range objects {
		if _, err := maps.Create(t.Context(), object(n, before), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}

	registry := prometheus.NewPedanticRegistry()
	obs, err := collectors.New(registry, collectors.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	server := &interruptible{maps: maps, interrupted: make(chan struct{}), restored: make(chan struct{})}
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: server.list, WatchFuncWithContext: server.watch}, client)
	id := informer.ID{Resource: "configmaps", Namespace: namespace}
	ctx, cancel := context.WithCancel(t.Context())
	var reading atomic.Int64
	// Called for each object that is stored, under the lock: a reader waits for the lock whenever an object is replaced.
	withReader := func(object any) ([]string, error) {
		for m, ok := object.(*corev1.ConfigMap); ok && m.Data["state"] == after && reading.Load() == 0 && ctx.Err() == nil; {
			runtime.Gosched()
		}
		return cache.MetaNamespaceIndexFunc(object)
	}
	inf := informer.NewSharedIndexInformer(obs, id, lw, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: withReader},
	})
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	running.Go(func() { inf.RunWithContext(ctx) })
	metricstest.Eventually(t, registry, "synced", synced)

	close(server.interrupted)
	for n := range objects {
		if _, err := maps.Update(t.Context(), object(n, after), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}

	lister := listersv1.NewConfigMapLister(inf.GetIndexer()).ConfigMaps(namespace)
	var old, updated, torn atomic.Int64
	for range 2 {
		running.Go(func() {
			for ctx.Err() == nil {
				reading.Add(1)
				list, err := lister.List(labels.Everything())
				reading.Add(-1)
				states := map[string]int{}
				for _, m := range list {
					states[m.Data["state"]]++
				}
				switch {
				case err == nil && states[before] == objects:
					old.Add(1)
				case err == nil && states[after] == objects:
					updated.Add(1)
				default:
					torn.Add(1)
				}
			}
		})
	}
	await.True(t, "readers of the old state", func() bool { return old.Load() > 0 })
	close(server.restored)
	await.True(t, "readers of the new state", func() bool { return updated.Load() > 0 })
	metricstest.Eventually(t, registry, "a relist", func(s metricstest.Snapshot) bool {
		return synced(s) && s["k8s_informer_list_duration_seconds_count"] == 2
	})
	if n := torn.Load(); n > 0 {
		t.Errorf("%d lists had some objects of the old and some of the new state", n)
	}
}

// interruptible lists and watches ConfigMaps. When it is interrupted, the watch ends, its version expires, and all other requests
// wait.
type interruptible struct {
	maps                  typedcorev1.ConfigMapInterface
	interrupted, restored chan struct{}
	expired               atomic.Bool
}

// wait returns once no interruption is in progress.
func (s *interruptible) wait(ctx context.Context) {
	select {
	case <-s.interrupted:
		select {
		case <-s.restored:
		case <-ctx.Done():
		}
	default:
	}
}

func (s *interruptible) list(ctx context.Context, options metav1.ListOptions) (apiruntime.Object, error) {
	s.wait(ctx)
	return s.maps.List(ctx, options)
}

func (s *interruptible) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	select {
	case <-s.interrupted:
		if options.SendInitialEvents == nil && s.expired.CompareAndSwap(false, true) {
			return nil, apierrors.NewResourceExpired("the version has expired")
		}
		s.wait(ctx)
		return s.maps.Watch(ctx, options)
	default:
	}
	w, err := s.maps.Watch(ctx, options)
	if err == nil {
		go func() {
			select {
			case <-s.interrupted:
				w.Stop()
			case <-ctx.Done():
			}
		}()
	}
	return w, err
}
