package never

import "k8s.io/client-go/util/workqueue"

type controller struct {
	queue workqueue.TypedRateLimitingInterface[string]
	sync  func(key string) error
}

func (c *controller) next() bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if err := c.sync(key); err != nil {
		c.retry(key)
	}
	return true
}

func (c *controller) retry(key string) {
	c.queue.AddRateLimited(key) // want `the package never calls Forget`
}
