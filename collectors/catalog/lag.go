package catalog

// How far the cache and the handlers trail the API server.
var (
	InformerSyncLag = gauge(Metric{
		Name:   "k8s_informer_sync_lag_seconds",
		Help:   "Seconds by which the informer is known to trail the API server, at the time of the scrape: the time since the watch was lost, or since the last list after that, while there is none, the age of the oldest received event that a handler has not finished, the age of the oldest difference that a freshness check saw and that is still there, and, once freshness checks themselves have failed for three intervals, the time since the last moment that the cache was known to be fresh; the largest of these. 0 on a healthy watch, however idle. Without freshness checks a connection that is dead without having been closed goes unnoticed.",
		Family: Lag,
		Labels: informer(),
		Covers: []string{"S5"},
	})
	InformerFreshnessChecks = counter(Metric{
		Name:   "k8s_informer_freshness_checks_total",
		Help:   "Freshness checks, by result: each opens a short second watch at the store's version and looks whether the store gets what it delivers. 0 where they are off, as they are in the library by default.",
		Family: Lag,
		Labels: informer(LabelFreshnessResult),
		Covers: []string{"S5", "S13"},
	})
	InformerEventLag = histogram(Metric{
		Name:    "k8s_informer_event_lag_seconds",
		Help:    "Seconds from the receipt of an event to the return of a handler, once for each handler. Objects of a list count from its end. Resyncs and unchanged objects are not counted. After an overrun (k8s_informer_events_lost_total) the value is a lower bound.",
		Family:  Lag,
		Labels:  informer(),
		Buckets: lagBuckets,
		Covers:  []string{"S3", "S15", "B2"},
	})
	InformerPropagation = histogram(Metric{
		Name:    "k8s_informer_propagation_seconds",
		Help:    "Seconds from the newest time in an object's managedFields, which the API server sets when it is written, to the receipt of the event that it was added or modified. The time has a resolution of one second and comes from another clock; objects without managedFields, those that are being deleted, and unstructured ones are not counted. An object that begins to match a selector counts from when it was written.",
		Family:  Lag,
		Labels:  informer(),
		Buckets: propagationBuckets,
		Covers:  []string{"S15", "S18"},
	})
)
