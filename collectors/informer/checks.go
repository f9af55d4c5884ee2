package informer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

// PauseAudits stops the audits of all informers of the Observer until ResumeAudits, including those created in the
// meantime. Use it in programs with several replicas, so that only the leader puts this load on the API server:
//
//	informer.PauseAudits(obs) // right after collectors.New
//	...
//	OnStartedLeading: func(ctx context.Context) { informer.ResumeAudits(ctx, obs); run(ctx) },
//
// An audit in progress is dropped and not counted. The results of earlier audits are discarded: while audits are paused,
// k8s_informer_audit_differences is absent and k8s_informer_audits_total does not change. The other checks continue.
// PauseAudits does not wait for an audit to end. It is safe for concurrent use.
func PauseAudits(obs *collectors.Observer) { registryOf(obs).checks.Auditing.Close() }

// ResumeAudits resumes audits until ctx is done, such as the context that client-go passes to OnStartedLeading. If ctx is
// already done, the call has no effect; otherwise the last call wins. It is safe for concurrent use.
//
// Each informer's first audit is due within 30 seconds. As after a start, differences are reported once a second audit has
// found them, and key collisions from before the pause count again.
func ResumeAudits(ctx context.Context, obs *collectors.Observer) {
	registryOf(obs).checks.Auditing.Open(ctx)
}

// AssertOptions are the options of AssertSynced. The zero value checks all informers of the Observer, with one request each.
type AssertOptions struct {
	// IDs are the informers to check. The default is all.
	IDs []ID
	// MaxSyncLag is the largest sync lag that passes. The default is collectors.Options.Objectives.SyncLag.
	MaxSyncLag time.Duration
	// NoRequests skips the freshness check and its request. Unless Equal is set, the result follows from the current state,
	// and takes microseconds, or two seconds if a store hangs.
	NoRequests bool
	// Equal also compares each cache with the API server, at the cost of an audit: see collectors.Checks.
	Equal bool
}

// AssertSynced returns an error unless informers are currently synced, connected and fresh and, with Equal, equal to the API server.
// The error names each informer and its problem. Use it in tests and readiness probes; probes that run often should
// set NoRequests. A freshness check takes a second and one watch request per informer, at most 16 at a time. It needs an observed
// connection and store: informers of Wrap and NewListerWatcher pass with NoRequests only. Without informers, it returns an error.
// It is safe for concurrent use.
func AssertSynced(ctx context.Context, obs *collectors.Observer, options AssertOptions) error {
	r := registryOf(obs)
	options.MaxSyncLag = cmp.Or(options.MaxSyncLag, r.Objectives.SyncLag)
	informers := r.informers.Owners()
	var missing []error
	for _, id := range options.IDs {
		if !slices.ContainsFunc(informers, func(inf *informer) bool { return inf.id == id }) {
			missing = append(missing, fmt.Errorf("informer %s, namespace %s: does not exist", id.Type(), id.WatchNamespace()))
		}
	}
	if len(options.IDs) > 0 {
		informers = slices.DeleteFunc(informers, func(inf *informer) bool { return !slices.Contains(options.IDs, inf.id) })
	} else if len(informers) == 0 {
		return errors.New("the Observer has no informers")
	}
	readStores(informers)
	failed := make(schedule.Slots, concurrentAssertions).Each(ctx, len(informers), func(i int) error {
		if err := informers[i].assertSynced(ctx, options); err != nil {
			return fmt.Errorf("informer %s, namespace %s: %w", informers[i].id.Type(), informers[i].id.WatchNamespace(), err)
		}
		return nil
	})
	return errors.Join(append(missing, failed...)...)
}

// concurrentAssertions is the number of informers that AssertSynced checks at a time.
const concurrentAssertions = 16

func (inf *informer) assertSynced(ctx context.Context, options AssertOptions) error {
	switch s := inf.status(); {
	case !s.Started:
		return errors.New("not started")
	case !s.Synced:
		return errors.New("not synced")
	case s.Connection && !s.Connected:
		return fmt.Errorf("no watch is open, %v behind the API server", s.SyncLag)
	case s.SyncLag > options.MaxSyncLag:
		return fmt.Errorf("%v behind the API server, want at most %v", s.SyncLag, options.MaxSyncLag)
	}
	return inf.checks.Verify(ctx, !options.NoRequests, options.Equal)
}

// Values of AuditStatus.Result and of the label result of k8s_informer_audits_total.
const (
	// AuditConsistent is a cache without differences from the API server.
	AuditConsistent = checks.AuditConsistent
	// AuditDifferent is a cache with differences, confirmed or not.
	AuditDifferent = checks.AuditDifferent
	// AuditSkipped is an audit that could not run: the watch is down, the cache has no version or changes faster than it can
	// be read, or the API server no longer has the version.
	AuditSkipped = checks.AuditSkipped
	// AuditError is an audit that failed because its list failed, or because it panicked on a damaged cache.
	AuditError = checks.AuditError
)
