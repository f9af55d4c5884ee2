//go:build !clientgo_before_0_36

package informer_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

const unsyncedReads = "k8s_informer_unsynced_reads_total"

// Reads that find nothing are counted before the initial sync, and not after it (S31).
func TestReadsBeforeSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		server := fakeapi.NewServer()
		release := make(chan struct{})
		server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			<-release
			return fakeapi.PodList(10, fakeapi.Pod("a", 7)), nil
		}
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{
			Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		})
		store := inf.GetIndexer()
		read := func() {
			_, _, _ = store.GetByKey("default/a")
			_, _, _ = store.Get(fakeapi.Pod("b", 1))
			store.List()
			_, _ = store.ByIndex(cache.NamespaceIndex, "default")
		}
		if _, ok := metricstest.Take(t, reg)[unsyncedReads]; ok {
			t.Error("counted before the first read")
		}
		read()
		stop := start(t, inf)
		synctest.Wait()
		read()
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{unsyncedReads: 8})
		close(release)
		<-server.Streams
		synctest.Wait()
		read()
		check(t, metricstest.Take(t, reg), metricstest.Snapshot{unsyncedReads: 8})
		stop()
	})
}

// A handler that processes the initial list reads a cache that already has it. Fake clients have no versions.
func TestReadsOfHandlersAreNotEarly(t *testing.T) {
	obs, reg := observertest.New(t)
	client := fake.NewClientset(fakeapi.Pod("a", 7))
	factory := informer.NewSharedInformerFactory(obs, client, 0, informer.FactoryOptions{})
	inf := factory.Core().V1().Pods().Informer()
	read := make(chan struct{})
	registration := addHandler(t, inf, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		<-read
		inf.GetIndexer().List()
	}})
	start(t, inf)
	if !cache.WaitForCacheSync(t.Context().Done(), inf.HasSynced) {
		t.Fatal("not synced")
	}
	close(read)
	if !cache.WaitForCacheSync(t.Context().Done(), registration.HasSynced) {
		t.Fatal("the handler is not synced")
	}
	if _, ok := metricstest.Take(t, reg)[unsyncedReads]; ok {
		t.Error("reads of a synced cache are counted")
	}
}

// If a Transform returns nil for one object of a list, client-go stores none of them, and reports that it has synced. Those that the
// Transform kept count as lost. A later nil loses only its own event.
func TestNilInAList(t *testing.T) {
	for _, changes := range [][]string{nil, {}, {"nil"}, {"nil", "nil", "nil"}, {"a", "nil", "b"}} {
		synctest.Test(t, func(t *testing.T) {
			obs, reg := observertest.New(t)
			server := fakeapi.NewServer()
			server.StreamingLists = changes != nil
			first := []*corev1.Pod{fakeapi.Pod("a", 1), fakeapi.Pod("b", 2), fakeapi.Pod("nil", 3)}
			server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(5, first...), nil }
			inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
			if err := inf.SetTransform(func(obj any) (any, error) {
				if p, ok := obj.(*corev1.Pod); !ok || p.Name == "nil" {
					return nil, nil //nolint:informerlint // the mistake that the test is about
				}
				return obj, nil
			}); err != nil {
				t.Fatal(err)
			}
			stop := start(t, inf)
			stream := <-server.Streams
			if changes != nil {
				for _, p := range first {
					stream.Send(watch.Added, p)
				}
				for _, name := range changes { // the API server may send changes before the end of the list
					stream.Send(watch.Modified, fakeapi.Pod(name, 4))
				}
				stream.Send(watch.Bookmark, fakeapi.EndOfList(5))
			}
			stream.Send(watch.Added, fakeapi.Pod("c", 6))
			stream.Send(watch.Added, fakeapi.Pod("nil", 7))
			synctest.Wait()
			check(t, metricstest.Take(t, reg), metricstest.Snapshot{
				"k8s_informer_synced": 1, "k8s_informer_objects": 1,
				"k8s_informer_transform_drops_total{cause=nil}": 2 + float64(count(changes, "nil")), "k8s_informer_events_lost_total{reason=transform}": 1,
				"k8s_informer_events_lost_total{reason=list}": 2,
			})
			if keys := inf.GetStore().ListKeys(); len(keys) != 1 {
				t.Errorf("the store has %v", keys)
			}
			stop()
		})
	}
}

// An object for which the Transform returns an error is left out of a streaming list, and does not count among the objects that
// a nil loses.
func TestErrorAndNilInAList(t *testing.T) {
	obs, reg := observertest.New(t)
	server := fakeapi.NewServer()
	server.StreamingLists = true
	inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	if err := inf.SetTransform(func(obj any) (any, error) {
		switch p, ok := obj.(*corev1.Pod); {
		case ok && p.Name == "nil":
			return nil, nil //nolint:informerlint // the mistake that the test is about
		case ok && strings.HasPrefix(p.Name, "error"):
			return nil, errors.New("cannot transform")
		}
		return obj, nil
	}); err != nil {
		t.Fatal(err)
	}
	start(t, inf)
	stream := <-server.Streams
	for i, name := range []string{"a", "error", "b", "nil"} {
		stream.Send(watch.Added, fakeapi.Pod(name, i+1))
	}
	const dropped, lost = "k8s_informer_transform_drops_total{cause=error}", "k8s_informer_events_lost_total{reason=list}"
	await.True(t, "an error before the end of the list", func() bool { return metricstest.Take(t, reg)[dropped] == 1 })
	stream.Send(watch.Added, fakeapi.Pod("error-2", 5)) // may be transformed after the end of the list was read
	stream.Send(watch.Bookmark, fakeapi.EndOfList(6))
	await.True(t, "the lost list", func() bool { return metricstest.Take(t, reg)[lost] != 0 })
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{"k8s_informer_objects": 0, dropped: 2, lost: 2})
}

func count(all []string, s string) (n int) {
	for _, other := range all {
		if other == s {
			n++
		}
	}
	return n
}
