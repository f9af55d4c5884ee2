package collectors

import (
	"time"

	"k8s.io/utils/clock"
)

// addClock is the clock of client-go's innermost queue, which reads it under the lock that it also calls its order under.
// A queue with metrics reads it when an item is added, right before it pushes it. Reading it once more for the order would
// be all that it costs to observe a queue, 30 to 50 ns an item, so that the order takes what was read.
type addClock struct {
	clock.WithTicker
	// base is the origin of the moments.
	base time.Time
	// read is the moment of the last Now, 0 once it has been taken. client-go calls Since last where it reads the clock for
	// anything but adding an item.
	read int64
}

// Now implements clock.PassiveClock.
func (c *addClock) Now() time.Time {
	t := c.WithTicker.Now()
	c.read = int64(t.Sub(c.base)) + 1
	return t
}

// Since implements clock.PassiveClock.
func (c *addClock) Since(t time.Time) time.Duration {
	c.read = 0
	return c.WithTicker.Since(t)
}

// pushed returns the moment at which an item is pushed.
func (c *addClock) pushed() int64 {
	at := c.read
	c.read = 0
	if at == 0 {
		at = c.now()
	}
	return at
}

// now returns this moment. Unlike the other methods, it may be called by anybody.
func (c *addClock) now() int64 { return int64(c.WithTicker.Since(c.base)) + 1 }
