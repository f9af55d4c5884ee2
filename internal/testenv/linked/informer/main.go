// Command informer uses the library without a typed factory. A test checks what it is linked with.
package main

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

type canary struct{}

func (canary) String() string { return "" }

// UnusedMethod is in the program only if the linker keeps every exported method.
func (canary) UnusedMethod() { slog.Info("called") }

func main() {
	ctx := context.Background()
	registry := prometheus.NewRegistry()
	obs, err := collectors.New(registry, collectors.Options{Name: "linked"})
	if err != nil {
		slog.Error("linked", "err", err, "canary", canary{})
	}
	config := apiclient.WrapConfig(obs, &rest.Config{}, apiclient.Options{})
	client, err := rest.RESTClientFor(config)
	if err != nil {
		slog.Error("linked", "err", err)
	}
	lw := cache.NewListWatchFromClient(client, "pods", "", nil)
	inf := informer.NewSharedIndexInformer(obs, informer.ID{Resource: "pods"}, lw, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	q := queue.NewTypedRateLimitingQueue(obs, "pods", workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
	sync := controllers.NewSyncHandler(obs, "pods", func(context.Context, string) error { return nil }, controllers.Options{})
	go inf.RunWithContext(ctx)
	item, _ := q.Get() //nolint:informerlint // linked, not run
	slog.Info("linked", "err", sync(ctx, item), "server", http.ListenAndServe("127.0.0.1:0", promhttp.HandlerFor(registry, promhttp.HandlerOpts{})))
}
