package catalog

// Whether the cache agrees with the API server and with itself.
var (
	InformerAudits = counter(Metric{
		Name:   "k8s_informer_audits_total",
		Help:   "Audits, by result: each compares the whole cache with the API server at the cache's own resourceVersion, and its indexes with its objects. 0 where they are off, as they are in the library by default.",
		Family: Audit,
		Labels: informer(LabelAuditResult),
		Covers: []string{"S11", "S13", "S19"},
	})
	InformerAuditDifferences = gauge(Metric{
		Name:   "k8s_informer_audit_differences",
		Help:   "Differences between the cache and the API server, by kind, that the last audit has found and the audit before it too; what only one has found is not counted here. An object with a key collision is counted as missing too. There is no value before the first audit that could be made, nor while audits are paused, as on replicas that do not lead.",
		Family: Audit,
		Labels: informer(LabelDifference),
		Covers: []string{"S11", "S13", "S19", "P3", "P8", "P9"},
	})
	InformerAuditDuration = histogram(Metric{
		Name:    "k8s_informer_audit_duration_seconds",
		Help:    "Seconds that audits took, most of them waiting for the pages of a list. Audits that were skipped or failed are not counted.",
		Family:  Audit,
		Labels:  informer(),
		Buckets: syncBuckets,
		Covers:  []string{"S11"},
	})
	InformerKeyCollisions = counter(Metric{
		Name:   "k8s_informer_key_collisions_total",
		Help:   "Objects that audits found overwritten in the cache by another object with the same key, each once for as long as it lasts. 0 where audits are off.",
		Family: Pollution,
		Labels: informer(),
		Covers: []string{"P3"},
	})
	InformerMutations = counter(Metric{
		Name:   "k8s_informer_mutations_total",
		Help:   "Cached objects that were found changed in place, at an unchanged resourceVersion, among those that are sampled: a consumer did not copy before it changed. 0 where sampling is off, as it is by default; each object is one of very few that are looked at.",
		Family: Pollution,
		Labels: informer(),
		Covers: []string{"P7"},
	})
)
