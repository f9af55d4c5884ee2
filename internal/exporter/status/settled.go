package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
)

// settledPoll is the interval of checks in Settled.
const settledPoll = 100 * time.Millisecond

// Settled waits until every informer is refused, or synced and, with audits, audited once with any result. It returns an error
// that lists the others if ctx ends first, and an error if all informers are refused.
func (r *Reporter) Settled(ctx context.Context) error {
	select {
	case <-r.Discovered: // the informers are not known before that
	case <-ctx.Done():
		return fmt.Errorf("discovery is not complete: %w", context.Cause(ctx))
	}
	tick := time.NewTicker(settledPoll)
	defer tick.Stop()
	for {
		states := r.Informers()
		missing := slices.DeleteFunc(slices.Clone(states), Informer.Complete)
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

// Confirmed waits until each informer is audited once more if its last audit found differences or was skipped, or until ctx ends.
func (r *Reporter) Confirmed(ctx context.Context) {
	first := map[informer.ID]time.Time{}
	for _, s := range r.Informers() {
		if s.doubtful() {
			first[s.ID] = s.LastAudit.At
		}
	}
	tick := time.NewTicker(settledPoll)
	defer tick.Stop()
	for {
		waiting := slices.ContainsFunc(r.Informers(), func(s Informer) bool {
			at, ok := first[s.ID]
			return ok && s.doubtful() && s.LastAudit.At.Equal(at)
		})
		if !waiting {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// doubtful reports whether a second audit may have another result.
func (s Informer) doubtful() bool {
	return s.Synced && !s.Refused && (s.Inconsistent() || s.LastAudit.Result == informer.AuditSkipped)
}

// Complete reports whether the informer is refused, or synced and audited. A skipped or failed audit suffices: the next one
// may be much later, and k8s_informer_audits_total has the result.
func (s Informer) Complete() bool {
	audited := s.LastAudit.Interval == 0 || s.LastAudit.Result != ""
	return s.Refused || s.Synced && audited
}

// Audited reports whether the last audit compared the cache with the API server.
func (s Informer) Audited() bool {
	return s.LastAudit.Result == informer.AuditConsistent || s.LastAudit.Result == informer.AuditDifferent
}
