//go:build !clientgo_before_0_36

package clientgo_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/integrations/clientgo"
)

// A controller with a factory, a queue and a sync method. A real client is created from the config; the example uses a fake one.
func Example() {
	obs := clientgo.New(clientgo.Options{Name: "example"}) // most programs have it in a package variable
	config := clientgo.WrapConfig(obs, &rest.Config{Host: "https://localhost:6443"})
	_ = config // kubernetes.NewForConfig(config)
	client := fake.NewClientset(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}})

	factory := clientgo.NewSharedInformerFactory(obs, client, 0)
	queue := clientgo.NewTypedRateLimitingQueue(obs, "pods", workqueue.DefaultTypedControllerRateLimiter[string]())
	pods := factory.Core().V1().Pods()
	_, _ = pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}})
	sync := clientgo.NewSyncHandler(obs, "pods", func(_ context.Context, key string) error {
		fmt.Println("sync", key)
		return nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)

	key, _ := queue.Get()
	fmt.Println("error:", sync(ctx, key))
	queue.Forget(key)
	queue.Done(key)

	queue.ShutDown()
	cancel()
	factory.Shutdown()
	// Output:
	// sync shop/web
	// error: <nil>
}
