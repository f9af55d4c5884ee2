package catalog

// How far caches and handlers lag behind the API server.
var (
	InformerSyncLag = gauge(familyLag, Metric{
		Name:      "k8s_informer_sync_lag_seconds",
		Help:      "Seconds by which the informer is known to be behind the API server, 0 on a healthy watch.",
		Notes:     "Computed at scrape time, as the longest of: the time since the watch was lost, or since a later list; the age of the oldest event that is not in the cache, or that a handler has not finished; the age of the oldest difference that a freshness check found; after two failed freshness checks in a row and three intervals, the time since the cache was last known to be fresh. 0 on an idle watch. Without freshness checks, a half-open connection is not detected.",
		Labels:    informer(),
		Essential: true,
	})
	InformerDegraded = gauge(familyLag, Metric{
		Name:   "k8s_informer_degraded",
		Help:   "Whether the informer is degraded by its sync lag or event lag (1) or not (0).",
		Notes:  "1 while the sync lag or the lag of an event is above 5 s or Options.Objectives, and for 30 s afterwards. Sync lag is evaluated when it is read: by a scrape, a status request or informer.NotifyDegraded, which notifies the application. Absent before the start.",
		Labels: informer(),
	})
	InformerStoreLag = gauge(familyLag, Metric{
		Name:   "k8s_informer_store_lag_seconds",
		Help:   "Age of the oldest received event that is not in the cache yet in seconds, 0 if the cache has all of them.",
		Notes:  "Part of the sync lag. Grows while a transform or an index function hangs. Absent without numeric versions.",
		Labels: informer(),
	})
	InformerFreshnessChecks = counter(familyLag, Metric{
		Name:   "k8s_informer_freshness_checks_total",
		Help:   "Number of freshness checks, by result.",
		Notes:  "Each check opens a second, short watch at the store's resource version and verifies that the store receives its events. Informers take turns, and are rarely checked if they receive bookmarks or events. Absent unless checks are enabled; the library's default is off.",
		Labels: informer(labelFreshnessResult),
		AtZero: []string{"fresh"},
	})
	InformerEventLag = histogram(familyLag, Metric{
		Name:             "k8s_informer_event_lag_seconds",
		Help:             "Time from receiving an event to the return of a handler in seconds, observed once per handler.",
		Notes:            "Excludes lists, resyncs and unchanged objects. A lower bound for the events in `k8s_informer_unmeasured_events_total`.",
		Labels:           informer(),
		Buckets:          lagBuckets,
		Essential:        true,
		EssentialBuckets: []float64{5},
	})
	InformerPropagation = summary(familyLag, Metric{
		Name:   "k8s_informer_propagation_seconds",
		Help:   "Time in seconds from the write of an object to the receipt of its event, at a resolution of one second.",
		Notes:  "Uses the newest time in managedFields, by the API server's clock. Excludes objects without managedFields, deleted and unstructured objects: absent, not 0, if the client asks the API server to omit managedFields (drop=metadata.managedFields, KEP-5958). An object that starts to match a selector counts from its last write.",
		Labels: informer(),
	})
)
