package informer_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// BenchmarkGetByKey compares a read by key through the decorated indexer with one through the plain indexer. The budget
// is a ratio of 1.10 and no allocation.
func BenchmarkGetByKey(b *testing.B) {
	plain := cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{})
	obs, _ := observertest.New(b)
	decorated := informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	keys := make([]string, 1000)
	for i := range keys {
		p := fakeapi.Pod(fmt.Sprintf("pod-%d", i), i+1)
		keys[i], _ = cache.MetaNamespaceKeyFunc(p)
		for _, inf := range []cache.SharedIndexInformer{plain, decorated} {
			if err := inf.GetIndexer().Add(p); err != nil {
				b.Fatal(err)
			}
		}
	}
	run := func(indexer cache.Indexer) budget.Workload {
		return func(b *testing.B, n int) time.Duration {
			begin := time.Now()
			for i := range n {
				if _, ok, _ := indexer.GetByKey(keys[i%len(keys)]); !ok {
					b.Fatal("not found")
				}
			}
			return time.Since(begin)
		}
	}
	budget.Ratio(b, 3_000_000, run(plain.GetIndexer()), run(decorated.GetIndexer()))
}

// BenchmarkLister compares reads through a lister, which composes the key first. The budget is the same.
func BenchmarkLister(b *testing.B) {
	plain := cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{})
	obs, _ := observertest.New(b)
	decorated := informer.NewSharedIndexInformer(obs, pods, fakeapi.NewServer(), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	for i, name := range names {
		p := fakeapi.Pod(name, i+1)
		for _, inf := range []cache.SharedIndexInformer{plain, decorated} {
			if err := inf.GetIndexer().Add(p); err != nil {
				b.Fatal(err)
			}
		}
	}
	run := func(indexer cache.Indexer) budget.Workload {
		lister := corelisters.NewPodLister(indexer).Pods("default")
		return func(b *testing.B, n int) time.Duration {
			begin := time.Now()
			for i := range n {
				if _, err := lister.Get(names[i%len(names)]); err != nil {
					b.Fatal(err)
				}
			}
			return time.Since(begin)
		}
	}
	budget.Ratio(b, 3_000_000, run(plain.GetIndexer()), run(decorated.GetIndexer()))
}

// BenchmarkEvent compares the path of an event from the watch to the return of a handler. The budget is 150 ns and
// no allocation on top of that without decorators.
func BenchmarkEvent(b *testing.B) {
	run := func(newInformer func(lw cache.ListerWatcher) cache.SharedIndexInformer) budget.Workload {
		return func(b *testing.B, n int) time.Duration {
			server := fakeapi.NewServer()
			inf := newInformer(server)
			// The window keeps the handler's backlog short, so that client-go's buffers do not grow.
			window := make(chan struct{}, 64)
			if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(any) { <-window },
				UpdateFunc: func(any, any) { <-window },
			}); err != nil {
				b.Fatal(err)
			}
			defer start(b, inf)()
			stream := <-server.Streams
			send := func(t watch.EventType, version int) {
				window <- struct{}{}
				stream.Send(t, fakeapi.Pod(names[version%len(names)], version))
			}
			for i := range names {
				send(watch.Added, i+2)
			}
			begin := time.Now()
			for i := range n {
				send(watch.Modified, len(names)+i+2)
			}
			for range cap(window) {
				window <- struct{}{}
			}
			return time.Since(begin)
		}
	}
	budget.Ratio(b, 100_000,
		run(func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
		}),
		run(func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			obs, _ := observertest.New(b)
			return informer.NewSharedIndexInformer(obs, pods, lw, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		}),
	)
}

var names = func() (names [1000]string) {
	for i := range names {
		names[i] = fmt.Sprintf("pod-%d", i)
	}
	return names
}()

// BenchmarkMemory reports the memory of a decorated informer beyond that of a plain one. The budget is 30 KiB,
// independent of the number of objects.
func BenchmarkMemory(b *testing.B) {
	const informers = 200
	measure := func(decorated bool) float64 {
		obs, reg := observertest.New(b)
		var keep []cache.SharedIndexInformer
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for n := range informers {
			server := fakeapi.NewServer()
			var inf cache.SharedIndexInformer
			if decorated {
				inf = informer.NewSharedIndexInformer(obs, informer.ID{Resource: "pods", Namespace: fmt.Sprint(n)}, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
			} else {
				inf = cache.NewSharedIndexInformerWithOptions(server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
			}
			if _, err := inf.AddEventHandler(slow); err != nil {
				b.Fatal(err)
			}
			start(b, inf)
			<-server.Streams
			keep = append(keep, inf)
		}
		metricstest.Take(b, reg)
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(keep)
		return (float64(after.HeapInuse+after.StackInuse) - float64(before.HeapInuse+before.StackInuse)) / informers / 1024
	}
	plain := measure(false)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(plain, "plain-KiB")
	b.ReportMetric(measure(true)-plain, "added-KiB")
}
