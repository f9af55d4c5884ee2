package catalog

// Checks of caches against the API server and against themselves.
var (
	InformerAudits = counter(familyAudit, Metric{
		Name:      "k8s_informer_audits_total",
		Help:      "Number of audits, by result.",
		Notes:     "Each audit compares the cache with the API server at the cache's resource version, and its indexes with its objects. Absent unless audits are enabled; the library's default is off.",
		Labels:    informer(labelAuditResult),
		AtZero:    []string{"consistent", "different", "error"},
		Essential: true,
	})
	InformerAuditDifferences = gauge(familyAudit, Metric{
		Name:      "k8s_informer_audit_differences",
		Help:      "Number of differences between the cache and the API server confirmed by the last two audits, by type.",
		Notes:     "A key collision also counts as missing. Absent before the first completed audit and while audits are paused, as on replicas that are not the leader. Otherwise `missing` always has a series, other values only while such differences exist.",
		Labels:    informer(labelDifference),
		AtZero:    []string{"missing"},
		Essential: true,
	})
	InformerAuditDuration = summary(familyAudit, Metric{
		Name:   "k8s_informer_audit_duration_seconds",
		Help:   "Duration of audits in seconds, excluding skipped and failed audits.",
		Notes:  "Mostly the time of the list. Absent unless audits are enabled.",
		Labels: informer(),
	})
	InformerKeyCollisions = counter(familyPollution, Metric{
		Name:   "k8s_informer_key_collisions_total",
		Help:   "Number of objects that audits found overwritten in the cache by another object with the same key.",
		Notes:  "Absent unless audits are enabled.",
		Labels: informer(),
	})
	InformerMutations = counter(familyPollution, Metric{
		Name:      "k8s_informer_mutations_total",
		Help:      "Number of sampled cached objects found changed in place, at an unchanged resource version.",
		Notes:     "A consumer changed an object without copying it. Off by default. A small sample is checked, and not before an object is first sampled, such as in OnAdd.",
		Labels:    informer(),
		Essential: true,
	})
)
