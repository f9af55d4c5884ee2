package informer

import (
	"context"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
)

// PauseAudits stops the audits of all informers of the Observer until ResumeAudits, also of informers that are created
// meanwhile. It is for programs with several replicas of which only the leader should put this load on the API server:
//
//	informer.PauseAudits(obs) // right after collectors.New
//	...
//	OnStartedLeading: func(ctx context.Context) { informer.ResumeAudits(ctx, obs); run(ctx) },
//
// An audit in progress is dropped and not counted. The findings of audits are forgotten: while audits are paused there is
// no k8s_informer_audit_differences, and k8s_informer_audits_total stands still. The other checks go on. PauseAudits does
// not wait for an audit to end. It is safe for concurrent use.
func PauseAudits(obs *collectors.Observer) { registryOf(obs).checks.Auditing.Close() }

// ResumeAudits allows audits until ctx ends, which pauses them again, as client-go ends the context that it passes to
// OnStartedLeading. A context that has ended already changes nothing; otherwise the last call counts. It is safe for
// concurrent use.
//
// Each informer's first audit is due within 30 seconds. As after a start, differences are reported once a second audit has
// found them, and key collisions from before the pause count again.
func ResumeAudits(ctx context.Context, obs *collectors.Observer) {
	registryOf(obs).checks.Auditing.Open(ctx)
}

// Values of AuditStatus.Result, which are those of the label result of k8s_informer_audits_total.
const (
	// AuditConsistent is a cache that equals the API server.
	AuditConsistent = checks.AuditConsistent
	// AuditDifferent is a cache with differences, confirmed or not.
	AuditDifferent = checks.AuditDifferent
	// AuditSkipped is an audit that could not run: the watch is down, the cache has no version or changes faster than it can
	// be read, or the API server no longer has the version.
	AuditSkipped = checks.AuditSkipped
	// AuditError is an audit whose list failed.
	AuditError = checks.AuditError
)
