//go:build unix

package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkResync measures what a resync of 500 objects costs (B5): calls of a handler, CPU time of the process and
// requests to the API server. It resyncs at the shortest period of client-go, compares with the same informers
// without resyncs, and reports the share of a CPU at usual periods. It fails if a resync sends a request.
func BenchmarkResync(b *testing.B) {
	const objects, resyncs = 500, 10
	const copies = 20 // of the informer, so that resyncs stand out from other work of the process
	var requests atomic.Int64
	config := stacktest.Config(b)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			requests.Add(1)
			return next.RoundTrip(r)
		})
	})
	client := kubernetes.NewForConfigOrDie(config)
	namespace := stacktest.Namespace(b)
	inParallel(objects, func(i int) {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("object-", i)}}
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(b.Context(), object, metav1.CreateOptions{}); err != nil {
			b.Error(err)
		}
	})
	if b.Failed() {
		return
	}

	type cost struct {
		took, cpu                time.Duration
		requests, calls, resyncs int64 // resyncs are the calls for one of the objects
	}
	// measure runs informers and measures the cost from their sync until done.
	measure := func(period time.Duration, done func(cost) bool) (spent cost) {
		obs, reg := observertest.New(b)
		ctx, stop := context.WithCancel(b.Context())
		var calls, first atomic.Int64
		var factories []informers.SharedInformerFactory
		for range copies {
			factory := informer.NewSharedInformerFactory(obs, client, period, informer.FactoryOptions{Namespace: namespace})
			if _, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
				UpdateFunc: func(_, obj any) {
					calls.Add(1)
					if obj.(*corev1.ConfigMap).Name == "object-0" {
						first.Add(1)
					}
				},
			}); err != nil {
				b.Fatal(err)
			}
			factory.Start(ctx.Done())
			factories = append(factories, factory)
		}
		metricstest.Eventually(b, reg, "all have synced", func(s metricstest.Snapshot) bool {
			return s["k8s_informer_synced"] == 1 && s["k8s_informer_watch_connected"] == 1 && s["k8s_informer_objects"] == copies*objects
		})
		begin, zero := time.Now(), cost{cpu: budget.CPUTime(b), requests: requests.Load(), calls: calls.Load(), resyncs: first.Load()}
		for !done(spent) {
			time.Sleep(10 * time.Millisecond)
			spent = cost{
				took:     time.Since(begin),
				cpu:      budget.CPUTime(b) - zero.cpu,
				requests: requests.Load() - zero.requests,
				calls:    calls.Load() - zero.calls,
				resyncs:  first.Load() - zero.resyncs,
			}
		}
		stop()
		for _, factory := range factories {
			factory.Shutdown()
		}
		return spent
	}
	with := measure(time.Second, func(spent cost) bool { return spent.calls >= resyncs*copies*objects })
	without := measure(0, func(spent cost) bool { return spent.took >= with.took })
	if with.requests != 0 || without.calls != 0 {
		b.Errorf("%d requests for resyncs; %d calls without resyncs", with.requests, without.calls)
	}
	each := (with.cpu - without.cpu) / time.Duration(with.resyncs)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(with.calls)/float64(with.resyncs), "calls/resync")
	b.ReportMetric(float64(with.requests)/float64(with.resyncs), "requests/resync")
	b.ReportMetric(float64(each.Microseconds()), "cpu-µs/resync")
	for _, period := range []time.Duration{30 * time.Second, 5 * time.Minute} {
		b.ReportMetric(100*each.Seconds()/period.Seconds(), fmt.Sprintf("cpu-%%-at-%.0fs", period.Seconds()))
	}
}
