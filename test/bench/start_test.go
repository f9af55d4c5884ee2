package bench_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkRestart measures the time from the start of a decorated informer of 10,000 Pods, with a new connection, until it has
// synced and a handler has received every Pod (B9).
func BenchmarkRestart(b *testing.B) { benchmark(b, restart) }

func restart(r *run) {
	config := stacktest.Config(r)
	namespace := stacktest.Namespace(r)
	pods := r.size(10_000, 50)
	r.fill(protobuf(config), namespace, pods)
	var synced, handled []time.Duration
	for range r.size(10, 1) {
		obs, _ := observertest.New(r)
		begin := time.Now()
		factory := informer.NewSharedInformerFactory(obs, protobuf(config), 0, informer.FactoryOptions{Namespace: namespace})
		inf := factory.Core().V1().Pods().Informer()
		var all sync.WaitGroup
		all.Add(pods)
		if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { all.Done() }}); err != nil {
			r.Fatal(err)
		}
		ctx, cancel := context.WithCancel(r.Context())
		factory.Start(ctx.Done())
		if !cache.WaitForNamedCacheSyncWithContext(ctx, inf.HasSynced) {
			r.Fatal("not synced")
		}
		synced = append(synced, time.Since(begin))
		all.Wait()
		handled = append(handled, time.Since(begin))
		cancel()
		factory.Shutdown()
	}
	r.report(quantile(synced, .5).Seconds(), "synced-p50-s")
	r.report(quantile(synced, 1).Seconds(), "synced-max-s")
	r.report(quantile(handled, .5).Seconds(), "handled-p50-s")
	r.report(quantile(handled, 1).Seconds(), "handled-max-s")
}

// BenchmarkColdStart measures the heap of an informer of 10,000 Pods from its start until it has synced (B10): its peak, what
// is left after a garbage collection, and its shape at 20 moments. It compares a streaming list, one LIST of everything
// (which is what client-go asks for with resourceVersion 0), and a LIST in pages of 500. It also compares plain with
// decorated informers.
func BenchmarkColdStart(b *testing.B) { benchmark(b, coldStart) }

func coldStart(r *run) {
	config := stacktest.Config(r)
	client, namespace := protobuf(config), stacktest.Namespace(r)
	r.fill(client, namespace, r.size(10_000, 50))
	obs, _ := observertest.New(r)
	for _, way := range []string{"streaming", "list", "paged"} {
		plain := func() cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(r.listerWatcher(client, namespace, way), &corev1.Pod{}, 0, cache.Indexers{})
		}
		decorated := func() cache.SharedIndexInformer {
			return informer.NewSharedIndexInformer(obs, informer.ID{Resource: "pods", Namespace: namespace}, r.listerWatcher(client, namespace, way), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		}
		var best [2]heapCurve
		for range r.size(5, 1) {
			for i, newInformer := range []func() cache.SharedIndexInformer{plain, decorated} {
				if c := r.start(newInformer()); best[i].peak == 0 || c.peak < best[i].peak {
					best[i] = c
				}
			}
		}
		for i, name := range []string{"plain", "decorated"} {
			r.report(best[i].peak, way+"-"+name+"-peak-MiB")
			r.report(best[i].held, way+"-"+name+"-held-MiB")
			r.report(best[i].took.Seconds(), way+"-"+name+"-s")
		}
		for i := range shapePoints {
			r.report(best[0].at(float64(i+1)/shapePoints), fmt.Sprintf("%s-at-%02d-MiB", way, i+1))
		}
	}
}

const shapePoints = 20

// listerWatcher lists Pods in one of three ways.
func (r *run) listerWatcher(client kubernetes.Interface, namespace, way string) cache.ListerWatcher {
	pods := client.CoreV1().Pods(namespace)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
			if way == "paged" {
				o.Limit = 500
				if o.ResourceVersion == "0" {
					o.ResourceVersion = "" // the API server ignores the limit at version 0
				}
			}
			return pods.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if way != "streaming" && o.SendInitialEvents != nil {
				return nil, errors.New("list first")
			}
			return pods.Watch(ctx, o)
		},
	}
}

// heapCurve is the heap during a start, in MiB above the heap before it.
type heapCurve struct {
	peak, held float64
	took       time.Duration
	samples    []float64
}

// at returns the heap at a share of the time.
func (c heapCurve) at(share float64) float64 {
	return c.samples[max(0, min(int(share*float64(len(c.samples))), len(c.samples))-1)]
}

// start runs an informer until it has synced.
func (r *run) start(inf cache.SharedIndexInformer) (c heapCurve) {
	debug.FreeOSMemory()
	heap := func() float64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return float64(sample[0].Value.Uint64()) / (1 << 20)
	}
	before := heap()
	ctx, cancel := context.WithCancel(r.Context())
	var running sync.WaitGroup
	begin := time.Now()
	running.Go(func() { inf.RunWithContext(ctx) })
	for synced := false; !synced; time.Sleep(2 * time.Millisecond) {
		synced = inf.HasSynced()
		c.samples = append(c.samples, heap()-before)
		c.peak = max(c.peak, c.samples[len(c.samples)-1])
	}
	c.took = time.Since(begin)
	runtime.GC()
	c.held = heap() - before
	cancel()
	running.Wait()
	return c
}
