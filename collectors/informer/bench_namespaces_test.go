package informer_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkNamespaces compares one informer of all namespaces with one for each of 100 namespaces, for the same objects
// (B4, P5): memory, open watches, and the time from a write request to the handler.
func BenchmarkNamespaces(b *testing.B) {
	const namespaces, objects, rounds = 100, 20, 3
	const label = "benchmark=namespaces" // the server has other objects too
	config := stacktest.Config(b)
	client := kubernetes.NewForConfigOrDie(config)
	names := make([]string, namespaces)
	for i := range names {
		names[i] = stacktest.Namespace(b)
	}
	inParallel(namespaces*objects, func(i int) {
		object := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("object-", i), Labels: map[string]string{"benchmark": "namespaces"}},
			Data:       map[string]string{"filler": strings.Repeat("x", 1024)},
		}
		if _, err := client.CoreV1().ConfigMaps(names[i%namespaces]).Create(b.Context(), object, metav1.CreateOptions{}); err != nil {
			b.Error(err)
		}
	})
	if b.Failed() {
		return
	}

	type layout struct {
		scopes  []string
		memory  float64 // the least of all rounds
		watches int
		lags    []time.Duration
	}
	one, each := &layout{scopes: []string{metav1.NamespaceAll}}, &layout{scopes: names}
	change := 0
	for range rounds {
		for _, l := range []*layout{one, each} {
			obs, reg := observertest.New(b)
			before := liveMemory()
			// The start of each write, and the time until it reached the handler.
			begun, lags := make([]atomic.Int64, namespaces*objects), make([]time.Duration, namespaces*objects)
			var handled sync.WaitGroup
			handler := cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, obj any) {
				var i int
				if _, err := fmt.Sscanf(obj.(*corev1.ConfigMap).Name, "object-%d", &i); err != nil {
					b.Error(err)
				}
				lags[i] = time.Duration(core.Of(obs).Now() - begun[i].Load())
				handled.Done()
			}}
			ctx, stop := context.WithCancel(b.Context())
			var factories []informers.SharedInformerFactory
			for _, scope := range l.scopes {
				factory := informer.NewSharedInformerFactory(obs, client, 0, informer.FactoryOptions{
					Namespace:        scope,
					TweakListOptions: func(o *metav1.ListOptions) { o.LabelSelector = label },
				})
				if _, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(handler); err != nil {
					b.Fatal(err)
				}
				factory.Start(ctx.Done())
				factories = append(factories, factory)
			}
			metricstest.Eventually(b, reg, "everything is there", func(metricstest.Snapshot) bool {
				held := 0
				l.watches = 0
				for _, s := range informer.Statuses(obs) {
					held += s.Objects
					if s.Connected {
						l.watches++
					}
				}
				return held == namespaces*objects && l.watches == len(l.scopes)
			})
			if held := float64(liveMemory()-before) / (1 << 20); l.memory == 0 || held < l.memory {
				l.memory = held
			}
			change++
			handled.Add(namespaces * objects)
			inParallel(namespaces*objects, func(i int) {
				begun[i].Store(core.Of(obs).Now())
				patch := fmt.Appendf(nil, `{"data":{"change":"%d"}}`, change)
				if _, err := client.CoreV1().ConfigMaps(names[i%namespaces]).Patch(b.Context(), fmt.Sprint("object-", i), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
					b.Error(err)
					handled.Done()
				}
			})
			handled.Wait()
			l.lags = append(l.lags, lags...)
			stop()
			for _, factory := range factories {
				factory.Shutdown()
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(one.watches), "one-watches")
	b.ReportMetric(float64(each.watches), "each-watches")
	b.ReportMetric(one.memory, "one-MiB")
	b.ReportMetric(each.memory/one.memory, "memory-ratio")
	for _, q := range []float64{.5, .99} {
		b.ReportMetric(milliseconds(quantile(one.lags, q)), fmt.Sprintf("one-p%.0f-ms", 100*q))
		b.ReportMetric(milliseconds(quantile(each.lags, q)), fmt.Sprintf("each-p%.0f-ms", 100*q))
	}
}

// inParallel calls f for 0 to n-1, a few at a time, as the clients of a busy cluster would.
func inParallel(n int, f func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	workers.Wait()
}

// liveMemory returns the bytes of the heap and of stacks in use.
func liveMemory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// quantile returns the smallest value that a share q of the values does not exceed.
func quantile(values []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
