package informer_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// Streaming lists, events, lag and reads are observed through dynamic and metadata factories as through the typed
// one.
func TestResourceFactoriesOnARealServer(t *testing.T) {
	type factory interface {
		Start(<-chan struct{})
		ForResource(schema.GroupVersionResource) informers.GenericInformer
		Shutdown()
	}
	for name, newFactory := range map[string]func(*collectors.Observer, *rest.Config, informer.FactoryOptions) factory{
		"dynamic": func(o *collectors.Observer, c *rest.Config, options informer.FactoryOptions) factory {
			return informer.NewDynamicSharedInformerFactory(o, dynamic.NewForConfigOrDie(c), 0, options)
		},
		"metadata": func(o *collectors.Observer, c *rest.Config, options informer.FactoryOptions) factory {
			return informer.NewMetadataSharedInformerFactory(o, metadata.NewForConfigOrDie(c), 0, options)
		},
	} {
		t.Run(name, func(t *testing.T) {
			requests := &requestCounter{}
			config := rest.CopyConfig(stacktest.Config(t))
			config.Wrap(requests.wrap)
			namespace := stacktest.Namespace(t)
			registry := prometheus.NewPedanticRegistry()
			obs, err := collectors.New(registry, collectors.Options{Name: "test"})
			if err != nil {
				t.Fatal(err)
			}
			f := newFactory(obs, config, informer.FactoryOptions{Namespace: namespace})
			inf := f.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
			if _, err := inf.Informer().AddEventHandler(informer.NamedHandler("one", cache.ResourceEventHandlerFuncs{})); err != nil {
				t.Fatal(err)
			}
			stop := make(chan struct{})
			f.Start(stop)
			t.Cleanup(func() { close(stop); f.Shutdown() })
			before := metricstest.Eventually(t, registry, "synced", synced)

			maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace)
			if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			metricstest.Eventually(t, registry, "handled", func(s metricstest.Snapshot) bool {
				return s["k8s_informer_event_lag_seconds_count"] == before["k8s_informer_event_lag_seconds_count"]+1
			})
			after := metricstest.Take(t, registry) // a gauge can be older than a histogram of the same scrape
			if _, err := inf.Lister().ByNamespace(namespace).Get("a"); err != nil {
				t.Error(err)
			}
			read := metricstest.Take(t, registry)
			read.Since(after, volatile...).Equal(t, metricstest.Snapshot{"k8s_informer_cache_hits_total": 1})
			if read["k8s_informer_watch_events_total{type=added}"] != 1 || read["k8s_informer_relists_total{reason=initial}"] != 1 {
				t.Errorf("reported are:\n%s", read)
			}
			if lists := requests.lists.Load(); lists != 0 {
				t.Errorf("%d LIST requests were sent: streaming lists are hidden", lists)
			}
		})
	}
}
