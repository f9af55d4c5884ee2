package bench_test

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// BenchmarkStores compares five stores with client-go's (B3, B8): 100 goroutines, 10,000 keys, 70% updates and 30% reads.
func BenchmarkStores(b *testing.B) { benchmark(b, stores) }

// store has the methods of a cache.
type store interface {
	update(key string, object *corev1.Pod)
	get(key string) bool
}

func stores(r *run) {
	keys := make([]string, r.size(10_000, 100))
	objects := make([]*corev1.Pod, len(keys))
	for i := range keys {
		objects[i] = fakeapi.Pod(podName(i), 1)
		keys[i] = "default/" + objects[i].Name
	}
	obs, _ := observertest.New(r)
	plain := cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	inner := cache.NewSharedIndexInformer(fakeapi.NewServer(), &corev1.Pod{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, c := range []struct {
		name  string
		store store
	}{
		{"mutex", &oneMutex{objects: map[string]*corev1.Pod{}}},
		{"rwmutex", &oneRWMutex{objects: map[string]*corev1.Pod{}}},
		{"shards", newShards()},
		{"syncmap", &syncMap{}},
		{"copyonwrite", newCopyOnWrite()},
		{"threadsafestore", threadSafe{cache.NewThreadSafeStore(cache.Indexers{}, cache.Indices{})}},
		{"indexer", indexer{plain.GetIndexer()}},
		{"decorated", indexer{informer.Wrap(obs, informer.ID{Resource: "pods"}, inner).GetIndexer()}},
	} {
		for i, key := range keys {
			c.store.update(key, objects[i])
		}
		r.hammer(c.name, c.store, keys, objects)
	}
}

// hammer uses a store from 100 goroutines, and reports its operations per second, their latency, and the share of their time that
// goroutines waited for a lock.
func (r *run) hammer(name string, s store, keys []string, objects []*corev1.Pod) {
	const goroutines, updates, every = 100, 70, 8 // every eighth operation is timed
	var operations atomic.Int64
	var mu sync.Mutex
	var latencies []time.Duration
	var stop atomic.Bool
	runtime.GC()
	waited, begin := mutexWait(), time.Now()
	var running sync.WaitGroup
	for g := range goroutines {
		running.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			var mine []time.Duration
			n := 0
			for ; n%every != 0 || !stop.Load(); n++ {
				i := random.IntN(len(keys))
				started := time.Time{}
				if n%every == 0 {
					started = time.Now()
				}
				if random.IntN(100) < updates {
					s.update(keys[i], objects[i])
				} else if !s.get(keys[i]) {
					r.Errorf("%s: %s is missing", name, keys[i])
				}
				if n%every == 0 && len(mine) < 100_000 {
					mine = append(mine, time.Since(started))
				}
			}
			operations.Add(int64(n))
			mu.Lock()
			defer mu.Unlock()
			latencies = append(latencies, mine...)
		})
	}
	time.Sleep(r.lasts(3 * time.Second))
	stop.Store(true)
	running.Wait()
	took := time.Since(begin).Seconds()
	r.report(float64(operations.Load())/took, name+"-ops/s")
	r.report(float64(quantile(latencies, .5).Nanoseconds())/1000, name+"-p50-µs")
	r.report(float64(quantile(latencies, .99).Nanoseconds())/1000, name+"-p99-µs")
	r.report(100*(mutexWait()-waited)/(took*goroutines), name+"-wait-%")
}

// mutexWait returns the seconds that all goroutines of the process have waited for locks.
func mutexWait() float64 {
	sample := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}

type oneMutex struct {
	mu      sync.Mutex
	objects map[string]*corev1.Pod
}

func (s *oneMutex) update(key string, object *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = object
}

func (s *oneMutex) get(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key] != nil
}

type oneRWMutex struct {
	mu      sync.RWMutex
	objects map[string]*corev1.Pod
}

func (s *oneRWMutex) update(key string, object *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = object
}

func (s *oneRWMutex) get(key string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.objects[key] != nil
}

// shards is 16 maps, each with a mutex.
type shards struct {
	seed  maphash.Seed
	parts [16]oneMutex
}

func newShards() *shards {
	s := &shards{seed: maphash.MakeSeed()}
	for i := range s.parts {
		s.parts[i].objects = map[string]*corev1.Pod{}
	}
	return s
}

func (s *shards) of(key string) *oneMutex {
	return &s.parts[maphash.String(s.seed, key)%uint64(len(s.parts))]
}
func (s *shards) update(key string, object *corev1.Pod) { s.of(key).update(key, object) }
func (s *shards) get(key string) bool                   { return s.of(key).get(key) }

type syncMap struct{ objects sync.Map }

func (s *syncMap) update(key string, object *corev1.Pod) { s.objects.Store(key, object) }

func (s *syncMap) get(key string) bool {
	_, found := s.objects.Load(key)
	return found
}

// copyOnWrite copies its map for each update. Readers need no lock.
type copyOnWrite struct {
	mu      sync.Mutex
	objects atomic.Pointer[map[string]*corev1.Pod]
}

func newCopyOnWrite() *copyOnWrite {
	s := &copyOnWrite{}
	s.objects.Store(&map[string]*corev1.Pod{})
	return s
}

func (s *copyOnWrite) update(key string, object *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(*s.objects.Load())
	next[key] = object
	s.objects.Store(&next)
}

func (s *copyOnWrite) get(key string) bool { return (*s.objects.Load())[key] != nil }

type threadSafe struct{ cache.ThreadSafeStore }

func (s threadSafe) update(key string, object *corev1.Pod) { s.Update(key, object) }

func (s threadSafe) get(key string) bool {
	_, found := s.Get(key)
	return found
}

// indexer also computes keys and has the index by namespace, as in an informer of a factory.
type indexer struct{ cache.Indexer }

func (s indexer) update(_ string, object *corev1.Pod) {
	if err := s.Update(object); err != nil {
		panic(fmt.Sprint("update: ", err))
	}
}

func (s indexer) get(key string) bool {
	_, found, err := s.GetByKey(key)
	return found && err == nil
}
