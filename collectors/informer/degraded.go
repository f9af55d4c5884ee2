package informer

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
)

const (
	// degradedHold is how long an informer stays degraded after its lag was last above an objective, so that the state does not flap.
	degradedHold = 30 * time.Second
	// degradedInterval is the time between two reads of the state by NotifyDegraded.
	degradedInterval = 5 * time.Second
)

// NotifyDegraded calls changed when an informer becomes degraded, and when it no longer is: see Status.Degraded. It reads the state of
// all informers every five seconds, at about the cost of a scrape, until ctx is done, and then returns. Calls are made one at a time
// on the caller's goroutine, without a lock. A panic of changed is logged, and does not end NotifyDegraded. An informer that ends is no
// longer degraded. The library itself does nothing: whether to serve stale data, to list, or to stop is up to the application.
func NotifyDegraded(ctx context.Context, obs *collectors.Observer, changed func(id ID, degraded bool)) {
	r := registryOf(obs)
	call := func(inf *informer, degraded bool) {
		defer func() {
			if v := recover(); v != nil {
				r.Logger.Error("callback of NotifyDegraded panicked", "panic", v, "stack", string(debug.Stack()))
			}
		}()
		changed(inf.id, degraded)
	}
	ticker := time.NewTicker(degradedInterval)
	defer ticker.Stop()
	known := map[*informer]bool{}
	for ctx.Err() == nil {
		current := r.degraded()
		for inf := range known {
			if !current[inf] {
				call(inf, false)
			}
		}
		for inf := range current {
			if !known[inf] {
				call(inf, true)
			}
		}
		known = current
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

func (r *registry) degraded() map[*informer]bool {
	degraded := map[*informer]bool{}
	informers := r.informers.Owners()
	readStores(informers)
	for _, inf := range informers {
		if inf.status().Degraded {
			degraded[inf] = true
		}
	}
	return degraded
}

// health decides when an informer is degraded. The zero value is not degraded. All methods are safe for concurrent use.
type health struct {
	// last is when a lag was last known to be above its objective, 0 if never.
	last atomic.Int64
}

// check records a lag at now. It costs a comparison unless the lag is above the objective.
func (h *health) check(now int64, lag, objective time.Duration) {
	if lag <= objective {
		return
	}
	for last := h.last.Load(); last < now && !h.last.CompareAndSwap(last, now); {
		last = h.last.Load()
	}
}

func (h *health) degraded(now int64) bool {
	last := h.last.Load()
	return last != 0 && now-last < int64(degradedHold)
}
