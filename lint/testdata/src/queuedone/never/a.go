package never

import "k8s.io/client-go/util/workqueue"

type controller struct {
	queue   workqueue.TypedRateLimitingInterface[string]
	handler func(key string) error
}

func (c *controller) never() bool {
	key, shutdown := c.queue.Get() // want `no Done follows Get`
	if shutdown {
		return false
	}
	_ = c.handler(key)
	return true
}
