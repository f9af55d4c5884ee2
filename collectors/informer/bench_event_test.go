package informer_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// BenchmarkEvent compares the path of an event from the watch to the return of a handler with that without decorators. What stands
// between watch and reflector needs a goroutine, so it also compares the decorators alone with a bare relay, a goroutine that passes
// events on, and with a relay that reads the clock when an event arrives and around the handler, and observes two histograms: an
// observer cannot do less. Where a reading takes 40 ns, that alone is about 150 ns. On one processor, work is measured, and not when
// goroutines are woken.
func BenchmarkEvent(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.Run("beyond=client-go", func(b *testing.B) {
		budget.Ratio(b, 20_000, eventWorkload(func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
		}), eventWorkload(func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			obs, _ := observertest.New(b)
			return informer.NewSharedIndexInformer(obs, pods, lw, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		}))
	})
	decorated := relayWorkload(func(lw cache.ListerWatcher, h cache.ResourceEventHandler) (cache.ListerWatcher, cache.ResourceEventHandler) {
		obs, _ := observertest.New(b)
		decorated := informer.NewListerWatcher(obs, pods, lw)
		return decorated, decorated.Decorate("bench", h)
	})
	b.Run("beyond=relay", func(b *testing.B) { budget.Ratio(b, 50_000, relayWorkload(newRelay(nil)), decorated) })
	b.Run("beyond=measuring-relay", func(b *testing.B) {
		budget.Ratio(b, 50_000, relayWorkload(newRelay(newTimes())), decorated)
	})
}

// relayWorkload takes events from a watch as the reflector does and passes them to a handler, on one goroutine. The result is the
// best of many short rounds, each shorter than a time slice of a busy machine.
func relayWorkload(decorate func(cache.ListerWatcher, cache.ResourceEventHandler) (cache.ListerWatcher, cache.ResourceEventHandler)) budget.Workload {
	return func(b *testing.B, n int) time.Duration {
		source := watch.NewFakeWithChanSize(stream.ReadAhead, false)
		handled := 0
		lw, handler := decorate(&cache.ListWatch{WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return source, nil }},
			cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { handled++ }})
		w, err := lw.Watch(metav1.ListOptions{}) //nolint:staticcheck // the decorator's methods call each other
		if err != nil {
			b.Fatal(err)
		}
		defer w.Stop()
		const round = 16 * stream.ReadAhead // few objects, which the processor still has in its caches, as after decoding
		old, version := fakeapi.Pod(names[0], 1), 1
		objects := make([]*corev1.Pod, round)
		best, rounds := time.Hour, n/round
		for range rounds {
			for i := range objects {
				version++
				objects[i] = fakeapi.Pod(names[0], version)
			}
			begin := time.Now()
			for batch := range slices.Chunk(objects, stream.ReadAhead) {
				for _, pod := range batch {
					source.Modify(pod)
				}
				for range batch {
					event := <-w.ResultChan()
					handler.OnUpdate(old, event.Object)
				}
			}
			best = min(best, time.Since(begin))
		}
		if handled != rounds*round {
			b.Fatalf("%d events were handled", handled)
		}
		return best * time.Duration(n) / round
	}
}

// newRelay decorates with a relay, and with what an observer of events must measure, unless t is nil.
func newRelay(t *times) func(cache.ListerWatcher, cache.ResourceEventHandler) (cache.ListerWatcher, cache.ResourceEventHandler) {
	return func(lw cache.ListerWatcher, h cache.ResourceEventHandler) (cache.ListerWatcher, cache.ResourceEventHandler) {
		if t != nil {
			h = measuringHandler{h, t}
		}
		return relay{lw, t}, h
	}
}

// times are those of an event.
type times struct {
	base          time.Time
	received      time.Duration
	duration, lag prometheus.Histogram
}

func newTimes() *times {
	histogram := func() prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Buckets: catalog.InformerEventLag.Buckets})
	}
	return &times{base: time.Now(), duration: histogram(), lag: histogram()}
}

type measuringHandler struct {
	cache.ResourceEventHandler
	times *times
}

// OnUpdate implements cache.ResourceEventHandler.
func (h measuringHandler) OnUpdate(oldObj, newObj any) {
	t := h.times
	begin := time.Since(t.base)
	h.ResourceEventHandler.OnUpdate(oldObj, newObj)
	end := time.Since(t.base)
	t.duration.Observe((end - begin).Seconds())
	t.lag.Observe((end - t.received).Seconds())
}

// relay is a ListerWatcher that passes the events of watches on, through a goroutine, and reads the clock before unless times is nil.
type relay struct {
	cache.ListerWatcher
	times *times
}

// Watch implements cache.Watcher.
func (r relay) Watch(options metav1.ListOptions) (watch.Interface, error) {
	inner, err := r.ListerWatcher.Watch(options) //nolint:staticcheck // the benchmark calls it
	if err != nil {
		return nil, err
	}
	w := &relayedWatch{Interface: inner, result: make(chan watch.Event, stream.ReadAhead), done: make(chan struct{})}
	go func() {
		defer close(w.result)
		for event := range inner.ResultChan() {
			if r.times != nil {
				r.times.received = time.Since(r.times.base)
			}
			select {
			case w.result <- event:
			case <-w.done:
				return
			}
		}
	}()
	return w, nil
}

type relayedWatch struct {
	watch.Interface
	result chan watch.Event
	done   chan struct{}
	stop   sync.Once
}

// ResultChan implements watch.Interface.
func (w *relayedWatch) ResultChan() <-chan watch.Event { return w.result }

// Stop implements watch.Interface.
func (w *relayedWatch) Stop() {
	w.stop.Do(func() { close(w.done) })
	w.Interface.Stop()
}
