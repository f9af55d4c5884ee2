package catalog

// Watches, their ends and the events on them. A streaming list counts as a list until the bookmark that ends its
// initial events, and as a watch from there on.
var (
	InformerWatches = counter(Metric{
		Name:   "k8s_informer_watches_total",
		Help:   "Watches that were opened.",
		Family: Watch,
		Labels: informer(),
		Covers: []string{"S6"},
	})
	InformerWatchConnected = gauge(Metric{
		Name:   "k8s_informer_watch_connected",
		Help:   "Whether a watch is open (1) or not (0); missing until the informer is started, and where only its store and handlers are decorated. A connection that is dead without having been closed still counts as open; see k8s_informer_sync_lag_seconds.",
		Family: Watch,
		Labels: informer(),
		Covers: []string{"S6"},
	})
	InformerWatchDuration = histogram(Metric{
		Name:    "k8s_informer_watch_duration_seconds",
		Help:    "Seconds that watches lasted, whatever ended them.",
		Family:  Watch,
		Labels:  informer(),
		Buckets: watchBuckets,
		Covers:  []string{"S6"},
	})
	InformerWatchTimeouts = counter(Metric{
		Name:   "k8s_informer_watch_timeouts_total",
		Help:   "Watches that reached their planned end after 5 to 10 minutes. These are normal.",
		Family: Watch,
		Labels: informer(),
		Covers: []string{"S6"},
	})
	InformerWatchDisconnects = counter(Metric{
		Name:   "k8s_informer_watch_disconnects_total",
		Help:   "Watches that ended before their time or could not be opened, by reason. Planned ends and those that the client asked for are not among them.",
		Family: Watch,
		Labels: informer(LabelDisconnectReason),
		Covers: []string{"S6"},
	})
	InformerWatchEvents = counter(Metric{
		Name:   "k8s_informer_watch_events_total",
		Help:   "Events received on watches, by type. The initial events of a streaming list are not among them; see k8s_informer_list_items.",
		Family: Watch,
		Labels: informer(LabelEventType),
		Covers: []string{"S6", "S19"},
	})
	InformerLastEventTimestamp = gauge(Metric{
		Name:   "k8s_informer_last_event_timestamp_seconds",
		Help:   "Unix time at which the last event, bookmarks included, or the end of a list was received; 0 before the first. That it is long ago does not mean that anything is wrong.",
		Family: Watch,
		Labels: informer(),
		Covers: []string{"S6"},
	})
	InformerCoverageGap = histogram(Metric{
		Name:    "k8s_informer_coverage_gap_seconds",
		Help:    "Seconds without a watch, from the end of one to the moment that its successor is open or, after a streaming list, up to date.",
		Family:  Watch,
		Labels:  informer(),
		Buckets: gapBuckets,
		Covers:  []string{"S13", "S14", "B6"},
	})
)
