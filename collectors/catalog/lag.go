package catalog

// How far caches and handlers lag behind the API server.
var (
	InformerSyncLag = gauge(Metric{
		Name:      "k8s_informer_sync_lag_seconds",
		Help:      "Seconds by which the informer is known to be behind the API server, 0 on a healthy watch.",
		Notes:     "Computed at scrape time, as the longest of several times. Without a watch: the time since the watch was lost, or since a later list. With pending events: the age of the oldest received event that is not in the cache yet, or that a handler has not finished. With differences found by a freshness check: the age of the oldest one that still exists. After two failed freshness checks in a row, and at least three of their intervals: the time since the cache was last known to be fresh. An idle watch has no lag. Without freshness checks, a half-open connection is not detected.",
		Family:    familyLag,
		Labels:    informer(),
		Essential: true,
	})
	InformerDegraded = gauge(Metric{
		Name:   "k8s_informer_degraded",
		Help:   "Whether the informer is degraded by its sync lag or event lag (1) or not (0).",
		Notes:  "An informer is degraded while its sync lag or the lag of an event is above 5 s, and for 30 s afterwards. Event lag is the lag of individual events and objects of lists that a handler has finished, not a quantile. Sync lag is evaluated only when it is read: by a scrape, a status request, or informer.NotifyDegraded. Absent until the informer has been started. The library only reports it; informer.NotifyDegraded notifies the application.",
		Family: familyLag,
		Labels: informer(),
	})
	InformerStoreLag = gauge(Metric{
		Name:   "k8s_informer_store_lag_seconds",
		Help:   "Age of the oldest received event that is not in the cache yet in seconds, 0 if the cache has all of them.",
		Notes:  "Computed at scrape time. Part of the sync lag. A transform or an index function that hangs makes it grow. Absent if the versions of the cache are not numbers.",
		Family: familyLag,
		Labels: informer(),
	})
	InformerFreshnessChecks = counter(Metric{
		Name:   "k8s_informer_freshness_checks_total",
		Help:   "Number of freshness checks, by result.",
		Notes:  "Each check opens a second, short watch at the store's resource version and verifies that the store receives the events of that watch. Informers take turns, and those that receive bookmarks or events are rarely checked: see collectors.Checks. Absent unless checks are enabled; the library's default is off.",
		Family: familyLag,
		Labels: informer(labelFreshnessResult),
		AtZero: []string{"fresh"},
	})
	InformerEventLag = histogram(Metric{
		Name:             "k8s_informer_event_lag_seconds",
		Help:             "Time from receiving an event to the return of a handler in seconds, observed once per handler.",
		Notes:            "Excludes objects of a list, which wait for each other, resyncs and unchanged objects. For unmeasured events (k8s_informer_unmeasured_events_total), the value is a lower bound.",
		Family:           familyLag,
		Labels:           informer(),
		Buckets:          lagBuckets,
		Essential:        true,
		EssentialBuckets: []float64{5},
	})
	InformerPropagation = summary(Metric{
		Name:   "k8s_informer_propagation_seconds",
		Help:   "Time in seconds from the write of an object to the receipt of its event, at a resolution of one second.",
		Notes:  "Uses the newest time in managedFields, which the API server sets with its own clock. Excludes objects without managedFields, objects being deleted, and unstructured objects. An object that starts to match a selector counts from its last write.",
		Family: familyLag,
		Labels: informer(),
	})
)
