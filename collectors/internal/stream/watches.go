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
	// late is set if the connection had been dead for some time before that was detected.
	late bool
}

// endOf returns the end of a watch by an error on its stream.
func endOf(err error) watchEnd {
	return watchEnd{reason: errclass.WatchEnd(err), decode: errclass.IsDecode(err), late: errclass.IsLate(err)}
}

// watchOpened records that a watch is open and up to date.
func (c *Connection) watchOpened() {
	c.metrics.watches.Inc()
	now := c.clock.Now()
	wall := c.clock.Wall(now)
	c.openedTime.Store(&wall)
	c.opened.Store(now)
	c.open.Add(1)
	if closed := c.closed.Swap(0); closed != 0 {
		c.metrics.gap.Observe(core.Seconds(now - closed))
	}
}

// watchClosed records the end of a watch that was opened at the given time.
func (c *Connection) watchClosed(opened int64, end watchEnd) {
	now := c.clock.Now()
	c.metrics.watchDuration.Observe(core.Seconds(now - opened))
	if now-opened >= int64(shortWatch) {
		c.failures.Store(0)
	}
	if c.open.Add(-1) == 0 {
		c.closed.Store(c.coveredUntil(now, opened, end))
	}
	c.watchDown(end)
}

// coveredUntil returns the last time at which a watch that has ended could deliver events. An end that the server announces is
// known immediately. A dead connection is detected later: the result is then the last time at which data arrived, or for which
// a freshness check has shown that nothing was missing.
func (c *Connection) coveredUntil(now, opened int64, end watchEnd) int64 {
	if !end.late {
		return now
	}
	return min(now, max(opened, c.lastReceipt.Load(), c.fresh.Load()))
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
		c.failures.Add(1)
		c.metrics.disconnects.Inc(end.reason)
	}
}

// watchRefused records an error that kept a watch from opening.
func (c *Connection) watchRefused(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	c.metrics.errors.Inc(errclass.ErrorType(err))
	c.watchDown(endOf(err))
}
