package blockinghandler

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

type controller struct {
	pods             corev1.PodInterface
	client           client.Client
	events, buffered chan string
}

func newController() *controller {
	return &controller{events: make(chan string), buffered: make(chan string, 9)}
}

func (c *controller) register(ctx context.Context, informer cache.SharedIndexInformer) {
	local := make(chan int)
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			c.pods.Delete(ctx, "a", metav1.DeleteOptions{}) // want `Delete blocks an event handler`
			time.Sleep(time.Second)                         // want `Sleep blocks an event handler`
			http.Get("http://example.com")                  // want `Get blocks an event handler`
			c.events <- "a"                                 // want `a send to a channel without a buffer blocks`
			local <- 1                                      // want `a send to a channel without a buffer blocks`
			c.buffered <- "a"
			go c.work(ctx)
		},
		UpdateFunc: func(_, obj any) {
			select {
			case c.events <- "a":
			default:
			}
			c.work(ctx)
		},
	})
}

func (c *controller) work(ctx context.Context) {
	c.pods.UpdateStatus(ctx, nil, metav1.UpdateOptions{}) // want `UpdateStatus blocks an event handler`
}

func (c *controller) updated(e event.UpdateEvent) {
	c.client.Get(context.Background(), client.ObjectKey{}, e.ObjectNew)
	c.client.Create(context.Background(), nil) // want `Create blocks an event handler`
}

func (c *controller) reconcile(ctx context.Context) {
	c.pods.Delete(ctx, "a", metav1.DeleteOptions{})
	c.events <- "a"
}
