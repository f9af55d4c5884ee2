package queuedone

// idioms7 calls Done only in an error, as a worker before authzed/controller-idioms#7.
func (c *controller) idioms7() bool {
	key, quit := c.queue.Get() // want `not every path`
	if quit {
		return false
	}
	if key == "" {
		c.queue.Done(key)
		return true
	}
	_ = c.handler(key)
	return true
}

func (c *controller) idioms7Fixed() bool {
	key, quit := c.queue.Get()
	if quit {
		return false
	}
	if key == "" {
		c.queue.Done(key)
		return true
	}
	_ = c.handler(key)
	c.queue.Done(key)
	return true
}
