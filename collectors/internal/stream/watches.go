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

// watchOpened records that a watch is open.
func (c *Connection) watchOpened(w *watchProxy) {
	c.metrics.watches.Inc()
	wall := c.clock.Wall(w.opened)
	c.openedTime.Store(&wall)
	c.unproven.Store(w)
}

// watchUp records that a watch has shown that it is up, and was so since it was opened.
func (c *Connection) watchUp(w *watchProxy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.up || w.down || w.opened == 0 { // it may have been stopped before it was open
		return
	}
	w.up = true
	c.opened.Store(w.opened)
	c.up.Add(1)
	c.unproven.CompareAndSwap(w, nil)
	if closed := c.closed.Swap(0); closed != 0 {
		c.metrics.gap.Observe(core.Seconds(w.opened - closed))
	}
}

// watchClosed records the end of a watch that was opened. The time without a watch goes on if it never was up.
func (c *Connection) watchClosed(w *watchProxy, end watchEnd) {
	now := c.clock.Now()
	c.metrics.watchDuration.Observe(core.Seconds(now - w.opened))
	if now-w.opened >= int64(shortWatch) {
		c.watchUp(w)
		c.failures.Store(0)
	}
	c.mu.Lock()
	w.down = true
	c.unproven.CompareAndSwap(w, nil)
	if w.up && c.up.Add(-1) == 0 {
		c.closed.Store(c.coveredUntil(now, w.opened, end))
	}
	c.mu.Unlock()
	c.watchDown(end)
}

// coveredUntil returns the last time at which a watch that has ended could deliver events. An end that the server announces is
// known immediately. A dead connection is detected later: the result is then the last time at which data arrived, or for which
// a freshness check has shown that nothing was missing.
func (c *Connection) coveredUntil(now, opened int64, end watchEnd) int64 {
	if !end.late {
		return now
	}
	return min(now, max(opened, c.ReceivedAt(), c.fresh.Load()))
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
