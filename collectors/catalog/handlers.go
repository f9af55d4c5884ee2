package catalog

// Event handlers.
var (
	InformerHandlers = gauge(Metric{
		Name:   "k8s_informer_handlers",
		Help:   "Number of registered event handlers.",
		Family: familyHandlers,
		Labels: informer(),
		Covers: []string{"S22"},
	})
	InformerHandlerDuration = histogram(Metric{
		Name:    "k8s_informer_handler_duration_seconds",
		Help:    "Time a handler took to process one event in seconds, including resyncs.",
		Family:  familyHandlers,
		Labels:  informer(LabelHandler),
		Buckets: handlerBuckets,
		Covers:  []string{"B2", "B7"},
	})
	InformerHandlerPending = gauge(Metric{
		Name:   "k8s_informer_handler_pending_events",
		Help:   "Number of received watch events that the handler has not finished.",
		Notes:  "A lower bound once it exceeds the number of remembered events.",
		Family: familyHandlers,
		Labels: informer(LabelHandler),
		Covers: []string{"S18"},
	})
	InformerHandlerPanics = counter(Metric{
		Name:   "k8s_informer_handler_panics_total",
		Help:   "Number of handler panics.",
		Notes:  "Panics are recovered only by informer.Isolate; otherwise client-go ends the process by default.",
		Family: familyHandlers,
		Labels: informer(LabelHandler),
		Covers: []string{"S21"},
	})
	InformerHandlerResyncPeriod = gauge(Metric{
		Name:   "k8s_informer_handler_resync_period_seconds",
		Help:   "Resync period of the handler in seconds, 0 without resyncs.",
		Notes:  "The requested period, but at least 1 second. For a handler added after the start of the informer, also at least the shortest period requested before the start. Without resyncs, a handler never sees a missed event again.",
		Family: familyHandlers,
		Labels: informer(LabelHandler),
		Covers: []string{"P4", "O6"},
	})
	InformerHandlerLastResync = gauge(Metric{
		Name:   "k8s_informer_handler_last_resync_timestamp_seconds",
		Help:   "Unix timestamp in seconds of the last object that a resync delivered to the handler, 0 before the first.",
		Family: familyHandlers,
		Labels: informer(LabelHandler),
		Covers: []string{"P6"},
	})
	InformerUnchangedUpdates = counter(Metric{
		Name:   "k8s_informer_unchanged_updates_total",
		Help:   "Number of updates delivered to handlers for unchanged objects, by cause.",
		Family: familyHandlers,
		Labels: informer(labelUnchangedCause),
		Covers: []string{"S20", "B5"},
	})
	InformerEventsLost = counter(Metric{
		Name:   "k8s_informer_events_lost_total",
		Help:   "Number of lost events, by reason.",
		Notes:  "With the reason overrun, the event reached its handler, but its receive time is unknown. With the other reasons, it never reached a handler.",
		Family: familyHandlers,
		Labels: informer(labelLostReason),
		Covers: []string{"S19"},
	})
)
