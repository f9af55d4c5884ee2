package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settledPoll is the interval of checks in Settled.
const settledPoll = 100 * time.Millisecond

// Settled waits until every informer is refused, or synced and, with audits, audited once with any result. It returns an error
// that lists the others if ctx ends first, and an error if all informers are refused.
func (r *Reporter) Settled(ctx context.Context) error {
	select {
	case <-r.Discovered: // the informers are not known before
	case <-ctx.Done():
		return fmt.Errorf("discovery is not complete: %w", context.Cause(ctx))
	}
	tick := time.NewTicker(settledPoll)
	defer tick.Stop()
	for {
		states := r.Informers()
		missing := slices.DeleteFunc(slices.Clone(states), Informer.complete)
		switch {
		case len(missing) > 0:
		case !slices.ContainsFunc(states, func(s Informer) bool { return !s.Refused }):
			return fmt.Errorf("none of %d resources can be watched", len(states))
		default:
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			var names []string
			for _, s := range missing {
				names = append(names, s.ID.WatchNamespace()+"/"+s.ID.Type()+" ("+s.State+")")
			}
			return fmt.Errorf("%d of %d resources are not synced and audited: %s: %w", len(missing), len(states), strings.Join(names, ", "), context.Cause(ctx))
		}
	}
}

// complete reports whether Settled need not wait for the informer. A skipped or failed audit counts: the next one may be far
// away, and audits_total has the result.
func (s Informer) complete() bool {
	audited := s.LastAudit.Interval == 0 || s.LastAudit.Result != ""
	return s.Refused || s.Synced && audited
}
