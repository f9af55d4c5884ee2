//go:build !clientgo_before_0_36

package informer_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

const upstreamPods = "{group=,resource=pods,version=v1}"

func newName(t *testing.T, name string) *cache.InformerName {
	t.Helper()
	n, err := cache.NewInformerName(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Release)
	return n
}

// onlyUpstream returns client-go's own metrics.
func onlyUpstream(s metricstest.Snapshot) metricstest.Snapshot {
	found := metricstest.Snapshot{}
	for series, value := range s {
		if strings.HasPrefix(series, "informer_") {
			found[series] = value
		}
	}
	return found
}

func TestUpstreamMetrics(t *testing.T) {
	for _, asked := range []bool{false, true} {
		obs, reg := observertest.New(t, func(o *collectors.Options) { o.UpstreamMetrics = asked })
		server := fakeapi.NewServer()
		name := newName(t, "upstream")
		id := name.WithResource(podsResource)
		inf := informer.NewSharedIndexInformer(obs, pods, server, &corev1.Pod{}, cache.SharedIndexInformerOptions{Identifier: id})
		stop := start(t, inf)
		stream := <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("a", 1234567890123456))
		s := metricstest.Eventually(t, reg, "stored", func(metricstest.Snapshot) bool { return len(inf.GetStore().ListKeys()) == 1 })
		if !asked {
			if got := onlyUpstream(s); len(got) != 0 {
				t.Errorf("reported although not enabled:\n%s", got)
			}
		} else {
			got := onlyUpstream(metricstest.Eventually(t, reg, "processed", func(s metricstest.Snapshot) bool {
				return s["informer_processing_latency_seconds_count"+upstreamPods] >= 2 && s["informer_queued_items"+upstreamPods] == 0
			}))
			if v := got["informer_store_resource_version"+upstreamPods]; v != 234567890123456 {
				t.Errorf("the version is %v", v)
			}
			if len(got) != 4 { // the histogram counts for two
				t.Errorf("reported are:\n%s", got)
			}
		}
		stop()
		if s := metricstest.Take(t, reg); len(s) != 0 {
			t.Errorf("after the end:\n%s", s)
		}
		name.Release()
	}
}

// The name of an informer can be reserved again before the informer has ended.
func TestUpstreamMetricsOfASuccessor(t *testing.T) {
	obs, reg := observertest.New(t, observertest.Upstream)
	run := func(n *cache.InformerName, version int) (stop func()) {
		server := fakeapi.NewServer()
		_, controller := informer.NewInformerWithOptions(obs, pods, cache.InformerOptions{
			ListerWatcher: server, ObjectType: &corev1.Pod{}, Handler: slow, Identifier: n.WithResource(podsResource),
		})
		ended, done := make(chan struct{}), make(chan struct{})
		go func() { defer close(done); controller.Run(ended) }()
		stream := <-server.Streams
		stream.Send(watch.Added, fakeapi.Pod("a", version))
		return func() { close(ended); <-done }
	}
	version := func(want float64) func(metricstest.Snapshot) bool {
		return func(s metricstest.Snapshot) bool { return s["informer_store_resource_version"+upstreamPods] == want }
	}
	first := newName(t, "successor")
	stopFirst := run(first, 100)
	metricstest.Eventually(t, reg, "the first one's version", version(100))
	first.Release()
	stopSecond := run(newName(t, "successor"), 200)
	metricstest.Eventually(t, reg, "the second one's version", version(200))
	stopFirst()
	if s := metricstest.Take(t, reg); !version(200)(s) {
		t.Errorf("the end of the first informer deleted the series of the second one:\n%s", onlyUpstream(s))
	}
	stopSecond()
	if s := metricstest.Take(t, reg); len(s) != 0 {
		t.Errorf("after the end:\n%s", s)
	}
}

// Once released, a name may be reserved by another informer.
func TestUpstreamMetricsOfAReleasedName(t *testing.T) {
	obs, reg := observertest.New(t, observertest.Upstream)
	name := newName(t, "released")
	provider := informer.MetricsProvider(obs, pods, nil)
	id := name.WithResource(podsResource)
	gauge, histogram := provider.NewQueuedItemMetric(id), provider.NewProcessingLatencyMetric(id)
	gauge.Set(1)
	histogram.Observe(1)
	name.Release()
	gauge.Set(2)
	histogram.Observe(2)
	onlyUpstream(metricstest.Take(t, reg)).Equal(t, metricstest.Snapshot{
		"informer_queued_items" + upstreamPods:                     1,
		"informer_processing_latency_seconds_count" + upstreamPods: 1,
		"informer_processing_latency_seconds_sum" + upstreamPods:   1,
	})
}

// A provider that the caller sets is kept.
func TestUpstreamMetricsLeaveOthersAlone(t *testing.T) {
	obs, _ := observertest.New(t, observertest.Upstream)
	given := &struct{ cache.InformerMetricsProvider }{}
	if got := informer.MetricsProvider(obs, pods, given); got != given {
		t.Error("the caller's provider was replaced")
	}
	plain, _ := observertest.New(t)
	if got := informer.MetricsProvider(plain, pods, nil); got != nil {
		t.Error("the provider of the process was replaced")
	}
}

// If the registry already has informer_*, New skips these metrics and logs it.
func TestUpstreamMetricsAreReportedOnce(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := catalog.UpstreamQueuedItems
	others := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: "[ALPHA] Those of component-base."}, m.LabelNames())
	if err := reg.Register(others); err != nil {
		t.Fatal(err)
	}
	observer := func(reg prometheus.Registerer, name string) (*collectors.Observer, string) {
		t.Helper()
		var log bytes.Buffer
		obs, err := collectors.New(reg, collectors.Options{Name: name, UpstreamMetrics: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		return obs, log.String()
	}
	obs, log := observer(reg, "a")
	if core.Of(obs).Informers != nil || core.Of(obs).Leaders == nil || strings.Count(log, "\n") != 1 || !strings.Contains(log, "informer_*") {
		t.Errorf("metrics that are registered already: %v, %v, the log says %q", core.Of(obs).Informers, core.Of(obs).Leaders, log)
	}
	if got := informer.MetricsProvider(obs, pods, nil); got != nil {
		t.Error("the provider of the process was replaced")
	}
	reg = prometheus.NewRegistry()
	first, log := observer(reg, "a")
	if core.Of(first).Informers == nil || log != "" {
		t.Errorf("the first Observer: %v, the log says %q", core.Of(first).Informers, log)
	}
	if second, log := observer(reg, "b"); core.Of(second).Informers != nil || strings.Count(log, "\n") != 2 {
		t.Errorf("the second Observer: %v, the log says %q", core.Of(second).Informers, log)
	}
	if !reg.Unregister(first) {
		t.Error("the Observer cannot be unregistered")
	}
	if third, log := observer(reg, "c"); core.Of(third).Informers == nil || log != "" {
		t.Errorf("after the first Observer was unregistered: %v, the log says %q", core.Of(third).Informers, log)
	}
}

// The factory passes its name to the informers, and releases it.
func TestUpstreamMetricsOfTheFactory(t *testing.T) {
	obs, reg := observertest.New(t, observertest.Upstream)
	f := informer.NewSharedInformerFactory(obs, fake.NewClientset(), 0, informer.FactoryOptions{InformerName: newName(t, "upstream-factory")})
	f.Core().V1().Pods().Informer()
	stop := make(chan struct{})
	f.Start(stop)
	f.WaitForCacheSync(stop)
	metricstest.Eventually(t, reg, "the queue is known", func(s metricstest.Snapshot) bool {
		_, ok := s["informer_queued_items"+upstreamPods]
		return ok
	})
	close(stop)
	f.Shutdown()
	if s := metricstest.Take(t, reg); len(s) != 0 {
		t.Errorf("after the shutdown:\n%s", s)
	}
}
