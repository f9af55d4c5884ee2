package degrade

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"
)

// interval is the time between two calls of degraded by Notify.
const interval = 5 * time.Second

// Notify calls changed for each item that becomes degraded or no longer is, until ctx ends. degraded returns the degraded items.
// An item that is missing from it is not degraded. A panic of changed is logged.
func Notify[T comparable](ctx context.Context, logger *slog.Logger, degraded func() map[T]bool, changed func(item T, degraded bool)) {
	call := func(item T, degraded bool) {
		defer func() {
			if v := recover(); v != nil {
				logger.Error("callback of NotifyDegraded panicked", "panic", v, "stack", string(debug.Stack()))
			}
		}()
		changed(item, degraded)
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	known := map[T]bool{}
	for ctx.Err() == nil {
		current := degraded()
		for item := range known {
			if !current[item] {
				call(item, false)
			}
		}
		for item := range current {
			if !known[item] {
				call(item, true)
			}
		}
		known = current
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}
