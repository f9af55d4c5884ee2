package reads

// Used returns the number of stripes that were used.
func Used(c *Counter) (n int) {
	for i := range c.stripes {
		if c.stripes[i].hits.Load() != 0 {
			n++
		}
	}
	return n
}
