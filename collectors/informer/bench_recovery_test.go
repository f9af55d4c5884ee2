package informer_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkRecovery measures how long an informer has no watch after its connection broke, by
// k8s_informer_coverage_gap_seconds, and the time from the end of the fault until a handler has received the writes made in
// the meantime (B6).
func BenchmarkRecovery(b *testing.B) {
	b.Run("resumed", func(b *testing.B) {
		recovery(b, 15, true, 0)
	})
	// client-go treats a watch that ends within a second without an event as a failure: it backs off and relists.
	b.Run("relisted", func(b *testing.B) {
		recovery(b, 10, false, 0)
	})
	// During an outage, client-go backs off longer after each attempt.
	b.Run("after-5s", func(b *testing.B) {
		recovery(b, 5, true, 5*time.Second)
	})
}

// recovery breaks the connection of a new informer in each round, because client-go's backoff remembers the last two
// minutes. The server cannot be reached for the duration of the outage.
func recovery(b *testing.B, rounds int, busy bool, outage time.Duration) {
	proxy, proxied := stacktest.Proxied(b)
	direct, through := kubernetes.NewForConfigOrDie(stacktest.Config(b)), kubernetes.NewForConfigOrDie(proxied)
	var gaps, behind []time.Duration
	for range rounds {
		namespace := stacktest.Namespace(b)
		obs, reg := observertest.New(b)
		factory := informer.NewSharedInformerFactory(obs, through, 0, informer.FactoryOptions{Namespace: namespace})
		seen := make(chan time.Time, 2)
		inf := factory.Core().V1().ConfigMaps().Informer()
		if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { seen <- time.Now() }}); err != nil {
			b.Fatal(err)
		}
		create := func(name string) {
			if _, err := direct.CoreV1().ConfigMaps(namespace).Create(b.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		stop := start(b, inf)
		metricstest.Eventually(b, reg, "synced", func(s metricstest.Snapshot) bool {
			return s["k8s_informer_synced"] == 1 && s["k8s_informer_watch_connected"] == 1
		})
		if busy {
			create("before")
			<-seen
		}
		if outage > 0 {
			proxy.Cut()
		} else {
			proxy.Reset()
		}
		ended := time.Now()
		create("meanwhile")
		if outage > 0 {
			time.Sleep(outage)
			if err := proxy.Restore(); err != nil {
				b.Fatal(err)
			}
			ended = time.Now()
		}
		behind = append(behind, (<-seen).Sub(ended))
		after := metricstest.Eventually(b, reg, "the gap is over", func(s metricstest.Snapshot) bool {
			return s["k8s_informer_coverage_gap_seconds_count"] == 1
		})
		gaps = append(gaps, time.Duration(after["k8s_informer_coverage_gap_seconds_sum"]*float64(time.Second)))
		stop()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(milliseconds(quantile(gaps, .5)), "gap-p50-ms")
	b.ReportMetric(milliseconds(quantile(gaps, 1)), "gap-max-ms")
	b.ReportMetric(milliseconds(quantile(behind, .5)), "behind-p50-ms")
	b.ReportMetric(milliseconds(quantile(behind, 1)), "behind-max-ms")
}
