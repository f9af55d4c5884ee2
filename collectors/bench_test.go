package collectors

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// stream is a ListerWatcher with an empty list and one watch, on which a test sends events as fast as they are taken,
// through a channel without a buffer like client-go's StreamWatcher.
type stream struct {
	events chan watch.Event
	stop   chan struct{}
}

func newStream() *stream {
	return &stream{events: make(chan watch.Event), stop: make(chan struct{})}
}

func (s *stream) List(metav1.ListOptions) (runtime.Object, error) {
	return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
}

func (s *stream) Watch(metav1.ListOptions) (watch.Interface, error) { return s, nil }

func (s *stream) ResultChan() <-chan watch.Event        { return s.events }
func (s *stream) Stop()                                 {}
func (s *stream) IsWatchListSemanticsUnSupported() bool { return true }

func pod(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: "uid", ResourceVersion: strconv.Itoa(version),
	}}
}

func newObserver(t testing.TB) (*Observer, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	obs, err := New(reg, Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return obs, reg
}

// BenchmarkGetByKey compares a read by key through the decorated indexer with one through the plain indexer. The budget
// is a ratio of 1.10 and no allocation.
func BenchmarkGetByKey(b *testing.B) {
	plain := cache.NewSharedIndexInformer(newStream(), &corev1.Pod{}, 0, cache.Indexers{})
	obs, _ := newObserver(b)
	decorated := obs.NewSharedIndexInformer(ID{Resource: "pods"}, newStream(), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	keys := make([]string, 1000)
	for i := range keys {
		p := pod(fmt.Sprintf("pod-%d", i), i+1)
		keys[i], _ = cache.MetaNamespaceKeyFunc(p)
		for _, inf := range []cache.SharedIndexInformer{plain, decorated} {
			if err := inf.GetIndexer().Add(p); err != nil {
				b.Fatal(err)
			}
		}
	}
	run := func(indexer cache.Indexer) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, ok, _ := indexer.GetByKey(keys[i%len(keys)]); !ok {
					b.Fatal("not found")
				}
				i++
			}
		}
	}
	b.Run("plain", run(plain.GetIndexer()))
	b.Run("decorated", run(decorated.GetIndexer()))
}

// BenchmarkEvent compares the way of an event from the watch to the return of a handler. The budget is 700 ns and no
// allocation more than without decorators.
func BenchmarkEvent(b *testing.B) {
	run := func(newInformer func(lw cache.ListerWatcher) cache.SharedIndexInformer) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			s := newStream()
			inf := newInformer(s)
			handled := make(chan struct{}, 1024)
			if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(any) { handled <- struct{}{} },
				UpdateFunc: func(any, any) { handled <- struct{}{} },
			}); err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() { defer close(done); inf.RunWithContext(ctx) }()
			pods := make([]*corev1.Pod, 4096)
			for i := range pods {
				pods[i] = pod("p", i+2)
			}
			s.events <- watch.Event{Type: watch.Added, Object: pod("p", 1)}
			<-handled
			b.ResetTimer()
			go func() {
				for i := range b.N {
					s.events <- watch.Event{Type: watch.Modified, Object: pods[i%len(pods)]}
				}
			}()
			for range b.N {
				<-handled
			}
			b.StopTimer()
			cancel()
			<-done
		}
	}
	b.Run("plain", run(func(lw cache.ListerWatcher) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
	}))
	b.Run("decorated", run(func(lw cache.ListerWatcher) cache.SharedIndexInformer {
		obs, _ := newObserver(b)
		return obs.NewSharedIndexInformer(ID{Resource: "pods"}, lw, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	}))
	_ = time.Second
}
