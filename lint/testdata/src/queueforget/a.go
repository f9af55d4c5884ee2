package queueforget

import "k8s.io/client-go/util/workqueue"

type controller struct {
	queue workqueue.TypedRateLimitingInterface[string]
	sync  func(key string) error
}

func (c *controller) before() bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	c.queue.Forget(key) // want `Forget runs before AddRateLimited`
	if err := c.sync(key); err != nil {
		c.queue.AddRateLimited(key)
	}
	return true
}

func (c *controller) deferred() bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Forget(key) // want `Forget runs before AddRateLimited`
	if err := c.sync(key); err != nil {
		c.queue.AddRateLimited(key)
	}
	return true
}

func (c *controller) after() bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if err := c.sync(key); err == nil {
		c.queue.Forget(key)
	} else {
		c.queue.AddRateLimited(key)
	}
	return true
}
