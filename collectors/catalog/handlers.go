package catalog

// Event handlers.
var (
	InformerHandlers = gauge(familyHandlers, Metric{
		Name:   "k8s_informer_handlers",
		Help:   "Number of registered event handlers.",
		Labels: informer(),
	})
	InformerHandlerDuration = histogram(familyHandlers, Metric{
		Name:             "k8s_informer_handler_duration_seconds",
		Help:             "Time a handler took to process one event in seconds, including resyncs.",
		Labels:           informer(LabelHandler),
		Buckets:          handlerBuckets,
		Essential:        true,
		EssentialBuckets: []float64{.12, 1},
	})
	InformerHandlerPending = gauge(familyHandlers, Metric{
		Name:   "k8s_informer_handler_pending_events",
		Help:   "Number of received watch events that the handler has not finished.",
		Notes:  "A lower bound once it exceeds the number of remembered events.",
		Labels: informer(LabelHandler),
	})
	InformerHandlerPanics = counter(familyHandlers, Metric{
		Name:      "k8s_informer_handler_panics_total",
		Help:      "Number of handler panics.",
		Notes:     "By default, a panic crashes the process; only informer.Isolate recovers it.",
		Labels:    informer(LabelHandler),
		Essential: true,
	})
	InformerHandlerResyncPeriod = gauge(familyHandlers, Metric{
		Name:   "k8s_informer_handler_resync_period_seconds",
		Help:   "Resync period of the handler in seconds, 0 without resyncs.",
		Notes:  "At least 1 second and, for a handler added after the start, at least the shortest period requested before it. Without resyncs, a handler never sees a missed event again.",
		Labels: informer(LabelHandler),
	})
	InformerResyncPeriods = gauge(familyHandlers, Metric{
		Name:   "k8s_informer_resync_periods",
		Help:   "Number of different resync periods of the informer's handlers, if there is more than one.",
		Notes:  "No resync counts as a period. Absent if all periods are equal.",
		Labels: informer(),
	})
	InformerHandlerLastResync = gauge(familyHandlers, Metric{
		Name:   "k8s_informer_handler_last_resync_timestamp_seconds",
		Help:   "Unix timestamp in seconds of the last object that a resync delivered to the handler.",
		Labels: informer(LabelHandler),
	})
	InformerUnchangedUpdates = counter(familyHandlers, Metric{
		Name:   "k8s_informer_unchanged_updates_total",
		Help:   "Number of updates delivered to handlers for unchanged objects, by cause.",
		Labels: informer(labelUnchangedCause),
	})
	InformerSameGenerationUpdates = counter(familyHandlers, Metric{
		Name:   "k8s_informer_same_generation_updates_total",
		Help:   "Number of updates delivered to handlers that did not change the object's generation.",
		Notes:  "Most change the status, others metadata. Objects without a generation do not count.",
		Labels: informer(),
	})
	InformerEventsLost = counter(familyHandlers, Metric{
		Name:      "k8s_informer_events_lost_total",
		Help:      "Number of events that never reached a handler, by reason.",
		Notes:     "`transform`: a transform returned an error or nil. `list`: client-go did not store the object because a transform returned nil for another one. `index`: an index function failed. `stop`: the handler was removed before it was called.",
		Labels:    informer(labelLostReason),
		Essential: true,
	})
	InformerUnmeasuredEvents = counter(familyHandlers, Metric{
		Name:   "k8s_informer_unmeasured_events_total",
		Help:   "Number of handled events with an unknown receive time.",
		Notes:  "The handler had more pending events than the library remembers; only their lag is unknown.",
		Labels: informer(),
	})
)
