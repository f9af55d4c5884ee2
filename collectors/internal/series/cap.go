// Package series keeps the number of time series bounded.
package series

import "sync"

// Other is the label value that stands for all values beyond a cap.
const Other = "other"

// Cap limits how many values of an open label are in use at the same time. A value is decided once for each item that
// is measured, and given back when the item is gone, so that a gauge never changes its label and the values of what has
// ended make room. The zero value allows nothing but Other.
type Cap struct {
	// Limit is the number of different values that may be in use.
	Limit int
	// Overflow, unless nil, is called for each value that Acquire replaces by Other. It must not call the Cap.
	Overflow func()

	mu   sync.Mutex
	uses map[string]int
}

// Acquire returns value if it is in use already or there is room for it, else Other. Each call must be matched by a
// Release of what it returned. It is safe for concurrent use.
func (c *Cap) Acquire(value string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if value == Other {
		return Other
	}
	if c.uses[value] == 0 && len(c.uses) >= c.Limit {
		if c.Overflow != nil {
			c.Overflow()
		}
		return Other
	}
	if c.uses == nil {
		c.uses = map[string]int{}
	}
	c.uses[value]++
	return value
}

// Release gives back a value that Acquire returned.
func (c *Cap) Release(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch n := c.uses[value]; {
	case n > 1:
		c.uses[value] = n - 1
	case n == 1:
		delete(c.uses, value)
	}
}
