package queuedone

import "k8s.io/client-go/util/workqueue"

type controller struct {
	queue   workqueue.TypedRateLimitingInterface[string]
	handler func(key string) error
}

func (c *controller) byWorker(keys map[string]bool) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	remember(keys, key)
	return true
}

func remember(keys map[string]bool, key string) { keys[key] = true }

func (c *controller) onePath() bool {
	key, shutdown := c.queue.Get() // want `not every path`
	if shutdown {
		return false
	}
	if err := c.handler(key); err != nil {
		return true
	}
	c.queue.Done(key)
	return true
}

func (c *controller) everyPath() bool {
	key, shutdown := c.queue.Get()
	if !shutdown {
		err := c.handler(key)
		c.queue.Done(key)
		return err == nil
	}
	return false
}

func (c *controller) deferred() bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	return c.handler(key) == nil
}

func (c *controller) inLiteral() bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	return func(key string) bool {
		defer c.queue.Done(key)
		return c.handler(key) == nil
	}(key)
}

func (c *controller) inHelper() {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		c.work(key)
	}
}

func (c *controller) work(key string) {
	_ = c.handler(key)
	c.queue.Done(key)
}

func (c *controller) get() (string, bool) { return c.queue.Get() }

func (c *controller) drain(keys chan string) {
	key, _ := c.queue.Get()
	keys <- key
}
