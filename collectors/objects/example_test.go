//go:build !clientgo_before_0_36

package objects_test

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The Pods of a cluster, one of which waits for a finalizer.
func ExampleNew() {
	client := fake.NewClientset(
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "old", Finalizers: []string{"example.com/volume"}, DeletionTimestamp: &metav1.Time{Time: time.Now()},
		}},
	)
	registry := prometheus.NewRegistry()

	collector, err := objects.New(registry, objects.Options{Name: "my-exporter"})
	if err != nil {
		fmt.Println(err)
		return
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	handler := collector.NewHandler("pods")
	registration, err := factory.Core().V1().Pods().Informer().AddEventHandler(handler)
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		panic("not synced")
	}
	observertest.Print(registry, "k8s_object_terminating")
	cancel()
	factory.Shutdown()
	handler.Close() // ends the series of the informer
	// Output:
	// k8s_object_terminating{finalizer="example.com/volume",informer_type="pods",namespace="shop"} 1
	// k8s_object_terminating{finalizer="none",informer_type="pods",namespace="*"} 0
}
