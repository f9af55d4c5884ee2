package informer

import (
	"context"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
)

// PauseAudits stops the audits of all informers of the Observer until ResumeAudits, including informers that are created
// meanwhile. Use it in programs with several replicas, so that only the leader puts this load on the API server:
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
// already done, the call has no effect; otherwise the last call counts. It is safe for concurrent use.
//
// Each informer's first audit is due within 30 seconds. As after a start, differences are reported once a second audit has
// found them, and key collisions from before the pause count again.
func ResumeAudits(ctx context.Context, obs *collectors.Observer) {
	registryOf(obs).checks.Auditing.Open(ctx)
}

// Values of AuditStatus.Result, which are those of the label result of k8s_informer_audits_total.
const (
	// AuditConsistent is a cache without differences from the API server.
	AuditConsistent = checks.AuditConsistent
	// AuditDifferent is a cache with differences, confirmed or not.
	AuditDifferent = checks.AuditDifferent
	// AuditSkipped is an audit that could not run: the watch is down, the cache has no version or changes faster than it can
	// be read, or the API server no longer has the version.
	AuditSkipped = checks.AuditSkipped
	// AuditError is an audit whose list failed.
	AuditError = checks.AuditError
)
