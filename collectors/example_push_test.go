package collectors_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/prometheus/client_golang/prometheus/push"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// printingGateway is a Pushgateway that prints how many pods it is told of.
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

// A job that is over before it could be scraped pushes as its last act but one: the series of informers end with them.
func Example_push() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	gateway := printingGateway()
	defer gateway.Close()
	obs, registry := observertest.Example()
	factory := informer.NewSharedInformerFactory(obs, fake.NewClientset(pod), 0, informer.Options{})
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
