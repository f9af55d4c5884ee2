package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

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
	var states, missing []Informer
	err := wait.PollUntilContextCancel(ctx, settledPoll, true, func(context.Context) (bool, error) {
		states = r.Informers()
		missing = slices.DeleteFunc(slices.Clone(states), Informer.Complete)
		return len(missing) == 0, nil
	})
	if err != nil {
		var names []string
		for _, s := range missing {
			names = append(names, s.ID.WatchNamespace()+"/"+s.ID.Type()+" ("+s.State+")")
		}
		return fmt.Errorf("%d of %d resources are not synced and audited: %s: %w", len(missing), len(states), strings.Join(names, ", "), context.Cause(ctx))
	}
	if !slices.ContainsFunc(states, func(s Informer) bool { return !s.Refused }) {
		return fmt.Errorf("none of %d resources can be watched", len(states))
	}
	return nil
}

// Confirmed waits until each informer is audited once more if its last audit found differences or was skipped, or until ctx ends.
func (r *Reporter) Confirmed(ctx context.Context) {
	first := map[informer.ID]time.Time{}
	for _, s := range r.Informers() {
		if s.doubtful() {
			first[s.ID] = s.LastAudit.At
		}
	}
	_ = wait.PollUntilContextCancel(ctx, settledPoll, true, func(context.Context) (bool, error) { // fails only if ctx ends
		waiting := slices.ContainsFunc(r.Informers(), func(s Informer) bool {
			at, ok := first[s.ID]
			return ok && s.doubtful() && s.LastAudit.At.Equal(at)
		})
		return !waiting, nil
	})
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
