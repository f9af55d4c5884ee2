package ratelimitedhandler

import (
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

type controller struct {
	queue workqueue.TypedRateLimitingInterface[string]
}

func (c *controller) register(informer cache.SharedIndexInformer) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: c.enqueue,
		UpdateFunc: func(_, obj any) {
			c.queue.AddRateLimited("a") // want `AddRateLimited in an event handler`
			c.queue.Add("a")
		},
		DeleteFunc: func(obj any) {
			if err := c.sync("a"); err != nil {
				c.queue.AddRateLimited("a")
			}
		},
	})
}

func (c *controller) enqueue(obj any) {
	if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
		c.queue.AddRateLimited(key) // want `AddRateLimited in an event handler`
	}
}

func (c *controller) sync(key string) error { return nil }

func (c *controller) retry(key string) { c.queue.AddRateLimited(key) }
