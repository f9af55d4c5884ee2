// Package degrade decides when an informer is degraded: its sync lag, or the lag of an event that a handler has finished, is above
// the objective, or was within the last 30 seconds.
package degrade

import (
	"sync/atomic"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Hold is how long an informer stays degraded after its lag was last above an objective, so that the state does not flap.
const Hold = 30 * time.Second

var (
	maxSyncLag  = objective(catalog.Objectives.SyncLag)
	maxEventLag = objective(catalog.Objectives.EventLag)
)

func objective(o catalog.Objective) time.Duration {
	return time.Duration(o.Threshold * float64(time.Second))
}

// State is the state of an informer. The zero value is not degraded. All methods are safe for concurrent use.
type State struct {
	// last is when the lag was last known to be above an objective, 0 if never.
	last atomic.Int64
}

// Handled records the lag in nanoseconds of an event that a handler finished at now. It costs a comparison unless the event is late.
func (s *State) Handled(now, lag int64) {
	if lag > int64(maxEventLag) {
		s.record(now)
	}
}

// Degraded reports whether the informer is degraded, given its sync lag at now.
func (s *State) Degraded(now int64, syncLag time.Duration) bool {
	if syncLag > maxSyncLag {
		s.record(now)
	}
	last := s.last.Load()
	return last != 0 && now-last < int64(Hold)
}

// record stores now unless a later time is already stored.
func (s *State) record(now int64) {
	for {
		last := s.last.Load()
		if last >= now || s.last.CompareAndSwap(last, now) {
			return
		}
	}
}
