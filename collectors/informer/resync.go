package informer

import (
	"sync"
	"time"
)

// resyncs computes the resync periods of the handlers of a shared informer as client-go does
// (k8s.io/client-go/tools/cache, shared_informer.go), which does not expose them.
type resyncs struct {
	// byDefault is the period of handlers that do not set their own.
	byDefault time.Duration

	mu sync.Mutex
	// check is how often the informer checks whether a resync is due: the shortest period that was set before it was
	// started, 0 if unknown.
	check time.Duration
}

// unknownPeriod is the resync period of handlers that use the default of an existing informer.
const unknownPeriod = -1

// shortestPeriod is the shortest resync period of client-go.
const shortestPeriod = time.Second

// period returns the resync period of a handler, given the requested one; nil requests the default. An informer that was
// created without resyncs has none.
func (r *resyncs) period(asked *time.Duration, started bool) time.Duration {
	period := r.byDefault
	if asked != nil {
		period = *asked
	}
	switch {
	case period == 0 || r.byDefault == 0:
		return 0
	case period < 0:
		return unknownPeriod
	}
	period = max(period, shortestPeriod)
	if r.byDefault == unknownPeriod {
		return period
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if started {
		return max(period, r.check)
	}
	r.check = min(r.check, period)
	return period
}
