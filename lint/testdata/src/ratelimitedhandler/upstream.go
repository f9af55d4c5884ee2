package ratelimitedhandler

import "k8s.io/client-go/tools/cache"

// sample delays each event, as kubernetes/sample-controller before its commit 7047ee6.
func (c *controller) sample(informer cache.SharedIndexInformer) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.sampleEnqueue,
		UpdateFunc: func(_, obj any) { c.sampleEnqueue(obj) },
	})
}

func (c *controller) sampleEnqueue(obj any) {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return
	}
	c.queue.AddRateLimited(key) // want `AddRateLimited in an event handler`
}

func (c *controller) sampleFixed(informer cache.SharedIndexInformer) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.sampleEnqueueFixed})
}

func (c *controller) sampleEnqueueFixed(obj any) {
	if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
		c.queue.Add(key)
	}
}
