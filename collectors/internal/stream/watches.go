package stream

import (
	"context"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/errclass"
)

// watchEnd is how a watch ended.
type watchEnd struct {
	// reason is one of the catalog's ends of a watch, empty before the first.
	reason string
	// decode is set if the stream could not be decoded.
	decode bool
}

// watchOpened records that a watch is open and up to date.
func (c *Connection) watchOpened() {
	c.metrics.watches.Inc()
	c.open.Add(1)
	now := c.clock.Now()
	c.opened.Store(now)
	if closed := c.closed.Swap(0); closed != 0 {
		c.metrics.gap.Observe(core.Seconds(now - closed))
	}
}

// watchClosed records the end of a watch that was opened at the given time.
func (c *Connection) watchClosed(opened int64, end watchEnd) {
	now := c.clock.Now()
	c.metrics.watchDuration.Observe(core.Seconds(now - opened))
	if c.open.Add(-1) == 0 {
		c.closed.Store(now)
	}
	c.watchDown(end)
}

// watchDown records why there is no watch.
func (c *Connection) watchDown(end watchEnd) {
	c.mu.Lock()
	c.lastEnd = end
	c.mu.Unlock()
	switch end.reason {
	case watchClientStop:
	case watchTimeout:
		c.metrics.timeouts.Inc()
	default:
		c.metrics.disconnects[end.reason].Inc()
	}
}

// watchRefused records an error that kept a watch from opening.
func (c *Connection) watchRefused(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	c.metrics.errors[errclass.ErrorType(err)].Inc()
	c.watchDown(watchEnd{reason: errclass.WatchEnd(err), decode: errclass.IsDecode(err)})
}
