// Command factory uses client-go's typed factory, a factory of another clientset and package clientgo. A test checks what it
// is linked with.
package main

import (
	"context"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/integrations/clientgo"
)

type canary struct{}

func (canary) String() string { return "" }

// UnusedMethod is in the program only if the linker keeps every exported method.
func (canary) UnusedMethod() { slog.Info("called") }

type newInformer func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer

// generated is a factory like those that informer-gen generates.
type generated struct {
	client kubernetes.Interface
}

func (g generated) InformerFor(_ runtime.Object, newFunc newInformer) cache.SharedIndexInformer {
	return newFunc(g.client, 0)
}

func main() {
	ctx := context.Background()
	obs := clientgo.New(clientgo.Options{Name: "linked"})
	client, err := kubernetes.NewForConfig(clientgo.WrapConfig(obs, &rest.Config{}))
	if err != nil {
		slog.Error("linked", "err", err, "canary", canary{})
	}
	factory := clientgo.NewSharedInformerFactory(obs, client, 0)
	pods := factory.Core().V1().Pods().Lister()
	clientgo.InformerFor(obs, generated{client}, "services.v1.", client.CoreV1().Services(""))
	factory.Start(ctx.Done())
	pod, err := pods.Pods("").Get("a") //nolint:informerlint // linked, not run
	slog.Info("linked", "pod", pod, "err", err)
}
