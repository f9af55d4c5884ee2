package checks

// Values of the label result of k8s_informer_freshness_checks_total.
const (
	// FreshnessFresh means that the store has everything that the second watch delivered.
	FreshnessFresh = "fresh"
	// FreshnessLagging means that the store still lacked some of these changes after a grace period.
	FreshnessLagging = "lagging"
	// FreshnessError means that the second watch could not be opened, broke, or was not ended by the server in time, or that
	// the store does not respond.
	FreshnessError = "error"
	// FreshnessSkipped means that the check had no result: the informer's own watch is down, the store has no version, or
	// the server no longer has that version.
	FreshnessSkipped = "skipped"
)

// Values of the label result of k8s_informer_audits_total.
const (
	// AuditConsistent means that the cache has no differences.
	AuditConsistent = "consistent"
	// AuditDifferent means that the cache has differences, confirmed or not.
	AuditDifferent = "different"
	// AuditSkipped means that the audit could not run: the watch is down, the cache has no version or changes faster than it
	// can be read, or the server no longer has the version (410) or does not list at exact versions.
	AuditSkipped = "skipped"
	// AuditError means that the list of the audit failed, or that the audit panicked on a damaged cache.
	AuditError = "error"
)
