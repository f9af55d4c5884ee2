package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settledPoll is how often settled looks.
const settledPoll = 100 * time.Millisecond

// settled waits until every target has been refused or is synced and, where there are audits, has been audited once, with
// whatever result. It fails, and says what is missing, when ctx ends before, and if nothing can be watched at all.
func (r *Reporter) Settled(ctx context.Context) error {
	select {
	case <-r.Discovered: // it is not known before what there is to wait for
	case <-ctx.Done():
		return fmt.Errorf("the API server has not been asked what it serves: %w", context.Cause(ctx))
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

// complete tells whether nothing is to be waited for. An audit that was skipped or has failed counts: the next one may be
// further away than anybody waits, and the result is told by audits_total.
func (s Informer) complete() bool {
	audited := s.LastAudit.Interval == 0 || s.LastAudit.Result != ""
	return s.Refused || s.Synced && audited
}
