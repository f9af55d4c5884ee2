package catalog

// Event handlers.
var (
	InformerHandlers = gauge(Metric{
		Name:   "k8s_informer_handlers",
		Help:   "Number of registered event handlers.",
		Family: familyHandlers,
		Labels: informer(),
	})
	InformerHandlerDuration = histogram(Metric{
		Name:             "k8s_informer_handler_duration_seconds",
		Help:             "Time a handler took to process one event in seconds, including resyncs.",
		Family:           familyHandlers,
		Labels:           informer(LabelHandler),
		Buckets:          handlerBuckets,
		Essential:        true,
		EssentialBuckets: []float64{.12, 1},
	})
	InformerHandlerPending = gauge(Metric{
		Name:   "k8s_informer_handler_pending_events",
		Help:   "Number of received watch events that the handler has not finished.",
		Notes:  "A lower bound once it exceeds the number of remembered events.",
		Family: familyHandlers,
		Labels: informer(LabelHandler),
	})
	InformerHandlerPanics = counter(Metric{
		Name:      "k8s_informer_handler_panics_total",
		Help:      "Number of handler panics.",
		Notes:     "Only informer.Isolate recovers panics. Without it, a panic crashes the process by default.",
		Family:    familyHandlers,
		Labels:    informer(LabelHandler),
		Essential: true,
	})
	InformerHandlerResyncPeriod = gauge(Metric{
		Name:   "k8s_informer_handler_resync_period_seconds",
		Help:   "Resync period of the handler in seconds, 0 without resyncs.",
		Notes:  "The requested period, but at least 1 second. For a handler added after the start of the informer, also at least the shortest period requested before the start. Without resyncs, a handler never sees a missed event again.",
		Family: familyHandlers,
		Labels: informer(LabelHandler),
	})
	InformerResyncPeriods = gauge(Metric{
		Name:   "k8s_informer_resync_periods",
		Help:   "Number of different resync periods of the informer's handlers, if there is more than one.",
		Notes:  "Handlers without resync count as one more period: they never see a missed event again, while others of the same informer do. Absent if all periods are equal.",
		Family: familyHandlers,
		Labels: informer(),
	})
	InformerHandlerLastResync = gauge(Metric{
		Name:   "k8s_informer_handler_last_resync_timestamp_seconds",
		Help:   "Unix timestamp in seconds of the last object that a resync delivered to the handler.",
		Notes:  "Absent before the first.",
		Family: familyHandlers,
		Labels: informer(LabelHandler),
	})
	InformerUnchangedUpdates = counter(Metric{
		Name:   "k8s_informer_unchanged_updates_total",
		Help:   "Number of updates delivered to handlers for unchanged objects, by cause.",
		Family: familyHandlers,
		Labels: informer(labelUnchangedCause),
	})
	InformerSameGenerationUpdates = counter(Metric{
		Name:   "k8s_informer_same_generation_updates_total",
		Help:   "Number of updates delivered to handlers that did not change the object's generation.",
		Notes:  "Most change only the status; the others change labels, annotations or other metadata. Objects without a generation do not count. Absent before the first.",
		Family: familyHandlers,
		Labels: informer(),
	})
	InformerEventsLost = counter(Metric{
		Name:      "k8s_informer_events_lost_total",
		Help:      "Number of events that never reached a handler, by reason.",
		Notes:     "With the reason `transform`, a transform returned an error or nil for the object of the event. `list` counts objects of a list that client-go does not store because a transform returned nil for another one. With `index`, an index function failed for the object of the event. With `stop`, the handler was removed before it was called. A series exists from the first such event.",
		Family:    familyHandlers,
		Labels:    informer(labelLostReason),
		Essential: true,
	})
	InformerUnmeasuredEvents = counter(Metric{
		Name:   "k8s_informer_unmeasured_events_total",
		Help:   "Number of handled events with an unknown receive time.",
		Notes:  "The event reached its handler; only its lag was not measured: more events were pending for the handler than the library remembers.",
		Family: familyHandlers,
		Labels: informer(),
	})
)
