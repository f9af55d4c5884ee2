//go:build !clientgo_before_0_36

package collectors_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// An Observer for all decorators of a program.
func ExampleNew() {
	registry := prometheus.NewRegistry()

	obs, err := collectors.New(registry, collectors.Options{Name: "my-controller"})
	if err != nil {
		fmt.Println(err)
		return
	}

	run := controllers.NewSyncHandler(obs, "deployments", func(context.Context, string) error { return nil }, controllers.Options{})
	_ = run(context.Background(), "shop/web")
	observertest.Print(registry, "controller_active_workers")
	// Output:
	// controller_active_workers{controller="deployments"} 0
}

// printingGateway is a Pushgateway that prints the number of objects that it receives.
func printingGateway() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path)
		decoder := expfmt.NewDecoder(r.Body, expfmt.ResponseFormat(r.Header))
		for {
			var family dto.MetricFamily
			if decoder.Decode(&family) != nil {
				return
			}
			if family.GetName() == "k8s_informer_objects" {
				fmt.Println(family.GetName(), family.GetMetric()[0].GetGauge().GetValue())
			}
		}
	}))
}

// A short-lived job pushes its metrics before it stops its informers, because their series end with them.
func Example_push() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	gateway := printingGateway()
	defer gateway.Close()
	obs, registry := observertest.Example()
	factory := informer.NewSharedInformerFactory(obs, fake.NewClientset(pod), 0, informer.FactoryOptions{})
	factory.Core().V1().Pods().Informer()
	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)

	// The job does its work here.

	pusher := push.New(gateway.URL, "nightly-cleanup").Gatherer(registry).Grouping("cluster", "eu")
	if err := pusher.PushContext(ctx); err != nil {
		fmt.Println(err)
	}
	cancel()
	factory.Shutdown()
	// Output:
	// PUT /metrics/job/nightly-cleanup/cluster/eu
	// k8s_informer_objects 1
}
