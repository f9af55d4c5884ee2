//go:build !clientgo_before_0_36

package informer_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// S12, S33: a controller restarts while objects are created and deleted. Its new cache equals the API server, no resource version goes
// backwards, and the gap is the time between the last event of the old process and the list of the new one.
func TestRestartUnderWrites(t *testing.T) {
	t.Parallel()
	const (
		received  = "k8s_informer_resource_version{stage=received}"
		lastEvent = "k8s_informer_last_event_timestamp_seconds"
	)
	client, namespace := kubernetes.NewForConfigOrDie(stacktest.Config(t)), stacktest.Namespace(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writes atomic.Int64
	failed := make(chan error, 1)
	go func() { failed <- write(ctx, client, namespace, &writes) }()
	wrote := func(n int64) {
		t.Helper()
		begin := writes.Load()
		await.True(t, "writes", func() bool { return writes.Load() >= begin+n })
	}
	start := func() (*collectors.Observer, *prometheus.Registry, func()) {
		t.Helper()
		registry := prometheus.NewPedanticRegistry()
		obs, err := collectors.New(registry, collectors.Options{Name: "test"})
		if err != nil {
			t.Fatal(err)
		}
		factory := informer.NewSharedInformerFactory(obs, client, 0, informer.FactoryOptions{Namespace: namespace})
		factory.Core().V1().ConfigMaps().Informer()
		ctx, cancel := context.WithCancel(context.Background())
		factory.Start(ctx.Done())
		stop := func() { cancel(); factory.Shutdown() }
		t.Cleanup(stop)
		return obs, registry, stop
	}

	_, registry, stop := start()
	last := metricstest.Eventually(t, registry, "events", func(s metricstest.Snapshot) bool { return s["k8s_informer_watch_events_total{type=added}"] >= 10 })
	stop()
	wrote(20)
	obs, registry, _ := start()
	first := metricstest.Eventually(t, registry, "synced", func(s metricstest.Snapshot) bool {
		return s["k8s_informer_synced"] == 1 && s["k8s_informer_watch_connected"] == 1
	})
	wrote(20)
	cancel()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}

	await.NoError(t, "the cache equals the API server", func() error {
		return informer.AssertSynced(t.Context(), obs, informer.AssertOptions{Equal: true})
	})
	list, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, metricstest.Take(t, registry), metricstest.Snapshot{
		"k8s_informer_objects": float64(len(list.Items)), "k8s_informer_resource_version_regressions_total": 0,
	})
	if first[received] <= last[received] {
		t.Errorf("version %v after %v", first[received], last[received])
	}
	gap := time.Duration((first[lastEvent] - last[lastEvent]) * float64(time.Second))
	if gap <= 0 {
		t.Errorf("a gap of %v", gap)
	}
	t.Logf("no events for %v", gap)
}

// write creates objects until ctx ends, and deletes each third one again.
func write(ctx context.Context, client kubernetes.Interface, namespace string, writes *atomic.Int64) error {
	configMaps := client.CoreV1().ConfigMaps(namespace)
	for n := 0; ctx.Err() == nil; n++ {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("write-", n)}}
		if _, err := configMaps.Create(context.WithoutCancel(ctx), object, metav1.CreateOptions{}); err != nil {
			return err
		}
		if n%3 == 0 {
			if err := configMaps.Delete(context.WithoutCancel(ctx), object.Name, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
		writes.Add(1)
	}
	return nil
}
