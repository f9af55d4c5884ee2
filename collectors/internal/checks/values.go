package checks

// Values of the label result of k8s_informer_freshness_checks_total.
const (
	// FreshnessFresh is a store that has all that the second watch delivered.
	FreshnessFresh = "fresh"
	// FreshnessLagging is a store that still lacked some of it after a grace time.
	FreshnessLagging = "lagging"
	// FreshnessError is a second watch that could not be opened, or that the server did not end in its time.
	FreshnessError = "error"
	// FreshnessSkipped is a check that could say nothing: the informer's own watch is down, the store has no version, or the
	// server no longer has that version.
	FreshnessSkipped = "skipped"
)

// Values of the label result of k8s_informer_audits_total.
const (
	// AuditConsistent is a cache without a difference.
	AuditConsistent = "consistent"
	// AuditDifferent is a cache with differences, confirmed or not.
	AuditDifferent = "different"
	// AuditSkipped is an audit that could not be made: the watch is down, the cache has no version or changes faster than it
	// can be read, or the server no longer has the version (410) or does not list at exact versions.
	AuditSkipped = "skipped"
	// AuditError is an audit whose list failed.
	AuditError = "error"
)
