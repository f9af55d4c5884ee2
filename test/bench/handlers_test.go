package bench_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// BenchmarkHandlers compares kinds of handlers at 2,000 events per second (B2). A fake watch sends the events: on a small machine,
// an API server and etcd cannot write as fast. Two of every hundred objects take 20 ms, as if a request were slow, and the others
// almost no time: 0.4 ms on average.
func BenchmarkHandlers(b *testing.B) { benchmark(b, handlers) }

func handlers(r *run) {
	slow := func(percent int) func(key string) {
		return func(key string) {
			if number(key)%100 < percent {
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	work := slow(2)
	for name, work := range map[string]func(string){"sync": work, "overload": slow(3)} {
		r.handle(name, func(l *lags) (cache.ResourceEventHandler, func()) {
			return l.handler(func(key string) { l.take(key, work) }), func() {}
		})
	}
	const workers = 4
	r.handle("channel", func(l *lags) (cache.ResourceEventHandler, func()) {
		keys := make(chan string, 100)
		var running sync.WaitGroup
		for range workers {
			running.Go(func() {
				for key := range keys {
					l.take(key, work)
				}
			})
		}
		return l.handler(func(key string) { keys <- key }), func() { close(keys); running.Wait() }
	})
	// The documented limiter: 200 per second with a burst of 1,000, and 5 ms to 10 s per item.
	for name, add := range map[string]func(*queue.Queue[string], string){
		"queue":   func(q *queue.Queue[string], key string) { q.Add(key) },
		"limited": func(q *queue.Queue[string], key string) { q.AddRateLimited(key) },
	} {
		r.handle(name, func(l *lags) (cache.ResourceEventHandler, func()) {
			obs, _ := observertest.New(r)
			q := queue.NewTypedRateLimitingQueue(obs, name, workqueue.NewTypedMaxOfRateLimiter(
				workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 10*time.Second),
				&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(200, 1000)},
			), queue.Options[string]{})
			var running sync.WaitGroup
			for range workers {
				running.Go(func() {
					for {
						key, shutdown := q.Get()
						if shutdown {
							return
						}
						l.take(key, work)
						q.Forget(key)
						q.Done(key)
					}
				})
			}
			return l.handler(func(key string) { add(q, key) }), func() { q.ShutDown(); running.Wait() }
		})
	}
}

// handle sends events for ten seconds. It reports their lag, the share of events that are not handled when the last one is
// sent, and the growth of the heap. For events that are not handled, the lag until then counts.
func (r *run) handle(name string, newHandler func(*lags) (cache.ResourceEventHandler, func())) {
	const perSecond = 2000
	objects := r.size(10_000, 100)
	events := r.size(10*perSecond, 100)
	obs, _ := observertest.New(r)
	server := fakeapi.NewServer()
	inf := informer.NewSharedIndexInformer(obs, informer.ID{Resource: "pods"}, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	l := &lags{waiting: map[string][]time.Time{}}
	handler, end := newHandler(l)
	if _, err := inf.AddEventHandler(handler); err != nil {
		r.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.Context())
	var running sync.WaitGroup
	running.Go(func() { inf.RunWithContext(ctx) })
	stream := <-server.Streams
	for i := range objects {
		p := pod("default", i)
		p.ResourceVersion = strconv.Itoa(i + 2)
		stream.Send(watch.Added, p)
	}
	before := liveHeap()
	begin := time.Now()
	for i := range events {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / perSecond)))
		p := pod("default", (i*7919)%objects) // every object in turn
		p.ResourceVersion = strconv.Itoa(objects + i + 2)
		l.sent("default/" + p.Name)
		stream.Send(watch.Modified, p)
	}
	took := time.Since(begin)
	done, left := l.end()
	heap := liveHeap() - before
	r.report(float64(events)/took.Seconds(), name+"-events/s")
	r.latencies(name, done)
	r.report(100*float64(left)/float64(events), name+"-left-%")
	r.report(float64(heap)/(1<<20), name+"-heap-MiB")
	cancel()
	l.stop()
	running.Wait()
	end()
}

// lags measures the time from sending an event to the end of the work for it. Work for a key covers all events of that key
// that were sent before it.
type lags struct {
	mu      sync.Mutex
	waiting map[string][]time.Time
	done    []time.Duration
	stopped bool
}

// handler calls f with the key of each update.
func (l *lags) handler(f func(key string)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
		p := object.(*corev1.Pod)
		f(p.Namespace + "/" + p.Name)
	}}
}

func (l *lags) sent(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[key] = append(l.waiting[key], time.Now())
}

// take runs the work for a key and counts its events, the oldest first. After stop, it returns at once.
func (l *lags) take(key string, work func(key string)) {
	l.mu.Lock()
	times, stopped := l.waiting[key], l.stopped
	delete(l.waiting, key)
	l.mu.Unlock()
	if stopped {
		return
	}
	work(key)
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range times {
		l.done = append(l.done, now.Sub(t))
	}
}

// end returns the lags, including those of events that are not handled yet, and the number of the latter.
func (l *lags) end() (all []time.Duration, left int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all = append(all, l.done...)
	for _, times := range l.waiting {
		for _, t := range times {
			all = append(all, time.Since(t))
			left++
		}
	}
	return all, left
}

func (l *lags) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
}

// number returns the number of a Pod by its key.
func number(key string) int {
	n, _ := strconv.Atoi(key[len(key)-5:])
	return n
}

// liveHeap returns the bytes of live objects.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
