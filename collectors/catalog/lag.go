package catalog

// How far caches and handlers lag behind the API server.
var (
	InformerSyncLag = gauge(Metric{
		Name:   "k8s_informer_sync_lag_seconds",
		Help:   "Seconds by which the informer is known to be behind the API server, 0 on a healthy watch.",
		Notes:  "Computed at scrape time as the maximum of: the time since the watch was lost, or since the last list after that, while there is no watch; the age of the oldest received event that a handler has not finished; the age of the oldest difference found by a freshness check that still exists; and, once freshness checks have failed for three intervals, the time since the cache was last known to be fresh. An idle watch has no lag. Without freshness checks, a half-open connection is not detected.",
		Family: familyLag,
		Labels: informer(),
		Covers: []string{"S5"},
	})
	InformerFreshnessChecks = counter(Metric{
		Name:   "k8s_informer_freshness_checks_total",
		Help:   "Number of freshness checks, by result.",
		Notes:  "Each check opens a short second watch at the store's resource version and verifies that the store receives what it delivers. Absent unless checks are enabled; the library's default is off.",
		Family: familyLag,
		Labels: informer(labelFreshnessResult),
		Covers: []string{"S5", "S13"},
	})
	InformerEventLag = histogram(Metric{
		Name:    "k8s_informer_event_lag_seconds",
		Help:    "Time from receiving an event to the return of a handler in seconds, observed once per handler.",
		Notes:   "Objects of a list are timed from the end of the list. Excludes resyncs and unchanged objects. After an overrun (k8s_informer_events_lost_total) the value is a lower bound.",
		Family:  familyLag,
		Labels:  informer(),
		Buckets: lagBuckets,
		Covers:  []string{"S3", "S15", "B2"},
	})
	InformerPropagation = histogram(Metric{
		Name:    "k8s_informer_propagation_seconds",
		Help:    "Time in seconds from the write of an object to the receipt of its event, at a resolution of one second.",
		Notes:   "Uses the newest time in managedFields, which the API server sets with its own clock. Excludes objects without managedFields, objects being deleted, and unstructured objects. An object that starts to match a selector counts from its last write.",
		Family:  familyLag,
		Labels:  informer(),
		Buckets: propagationBuckets,
		Covers:  []string{"S15", "S18"},
	})
)
