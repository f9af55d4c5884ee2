package catalog

// Watches, their ends and the events on them. A streaming list counts as a list until the bookmark that ends its
// initial events, and as a watch from there on.
var (
	InformerWatches = counter(familyWatch, Metric{
		Name:      "k8s_informer_watches_total",
		Help:      "Number of watches opened.",
		Labels:    informer(),
		Essential: true,
	})
	InformerWatchConnected = gauge(familyWatch, Metric{
		Name:      "k8s_informer_watch_connected",
		Help:      "Whether a watch is up (1) or not (0).",
		Notes:     "Absent before the start, and if only store and handlers are decorated. After a failure, up means an event, a bookmark, or a second without an error. A half-open connection counts as up; see `k8s_informer_sync_lag_seconds`.",
		Labels:    informer(),
		Essential: true,
	})
	InformerWatchDuration = summary(familyWatch, Metric{
		Name:   "k8s_informer_watch_duration_seconds",
		Help:   "Duration of watches in seconds, regardless of how they ended.",
		Labels: informer(),
	})
	InformerWatchTimeouts = counter(familyWatch, Metric{
		Name:   "k8s_informer_watch_timeouts_total",
		Help:   "Number of watches that ended at the timeout requested by the client.",
		Notes:  "client-go requests timeouts of 5 to 10 minutes, so these ends are normal.",
		Labels: informer(),
	})
	InformerWatchDisconnects = counter(familyWatch, Metric{
		Name:      "k8s_informer_watch_disconnects_total",
		Help:      "Number of watches that ended early or could not be opened, by reason.",
		Notes:     "Excludes watches that ended at their timeout or were stopped by the client.",
		Labels:    informer(labelDisconnectReason),
		AtZero:    []string{"server_close", "very_short", "throttled", "refused"},
		Essential: true,
	})
	InformerWatchEvents = counter(familyWatch, Metric{
		Name:   "k8s_informer_watch_events_total",
		Help:   "Number of watch events received, by type.",
		Notes:  "Excludes the initial events of a streaming list; see k8s_informer_list_items.",
		Labels: informer(labelEventType),
	})
	InformerLastEventTimestamp = gauge(familyWatch, Metric{
		Name:   "k8s_informer_last_event_timestamp_seconds",
		Help:   "Unix timestamp in seconds of the last event, bookmark or list end received, 0 before the first.",
		Notes:  "An idle resource has no events.",
		Labels: informer(),
	})
	InformerWatchOpened = gauge(familyWatch, Metric{
		Name:   "k8s_informer_watch_opened_timestamp_seconds",
		Help:   "Unix timestamp in seconds at which the current watch was opened.",
		Notes:  "Absent while none is open. Older than 10.5 minutes: requested without a timeout, or its end was lost. Informers with the same labels report the oldest.",
		Labels: informer(),
	})
	InformerFailures = gauge(familyWatch, Metric{
		Name:   "k8s_informer_consecutive_failures",
		Help:   "Number of consecutive failed lists and watches.",
		Notes:  "Absent at 0. Resets once a watch has been open for a second, not after a successful list. After a failure, client-go waits 0.8 s, doubling up to 30 s, plus up to 100% jitter.",
		Labels: informer(),
	})
	InformerCoverageGap = histogram(familyWatch, Metric{
		Name:    "k8s_informer_coverage_gap_seconds",
		Help:    "Duration of gaps between watches in seconds.",
		Notes:   "A gap begins when the server announces the end of the watch, else at the last event, bookmark or freshness check. It ends when the next watch is up or, after a streaming list, up to date.",
		Labels:  informer(),
		Buckets: gapBuckets,
	})
)
