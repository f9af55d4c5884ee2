package collectors

import (
	"sync"
	"time"
)

// resyncs works out how often the handlers of a shared informer get resyncs, as client-go does
// (k8s.io/client-go/tools/cache, shared_informer.go), which keeps that to itself.
type resyncs struct {
	// byDefault is the period of handlers that ask for none of their own.
	byDefault time.Duration

	mu sync.Mutex
	// check is how often the informer looks whether a resync is due: the shortest period that it was asked for before it
	// was started. It is 0 if it is not known.
	check time.Duration
}

// unknownPeriod is the resync period of handlers that take the default of an informer that somebody else has built.
const unknownPeriod = -1

// shortestPeriod is the shortest resync period of client-go.
const shortestPeriod = time.Second

// period returns how often a handler gets resyncs that asks for a period, or takes the default if that is nil. An
// informer that was made without resyncs does none.
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
