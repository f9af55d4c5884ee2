package queueforget

// kthena1787 forgets a key only when it gives up, as in volcano-sh/kthena#1787.
func (c *controller) kthena1787() bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if err := c.sync(key); err != nil {
		if c.queue.NumRequeues(key) < 5 {
			c.queue.AddRateLimited(key) // want `success does not call Forget`
			return true
		}
		c.queue.Forget(key)
	}
	return true
}

func (c *controller) kthena1787Fixed() bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if err := c.sync(key); err != nil && c.queue.NumRequeues(key) < 5 {
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key)
	return true
}
