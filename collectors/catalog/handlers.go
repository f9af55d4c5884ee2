package catalog

// Event handlers.
var (
	InformerHandlers = gauge(Metric{
		Name:   "k8s_informer_handlers",
		Help:   "Event handlers that are registered now.",
		Family: Handlers,
		Labels: informer(),
		Covers: []string{"S22"},
	})
	InformerHandlerDuration = histogram(Metric{
		Name:    "k8s_informer_handler_duration_seconds",
		Help:    "Seconds that a handler took for one event, resyncs included.",
		Family:  Handlers,
		Labels:  informer(LabelHandler),
		Buckets: handlerBuckets,
		Covers:  []string{"B2", "B7"},
	})
	InformerHandlerPending = gauge(Metric{
		Name:   "k8s_informer_handler_pending_events",
		Help:   "Events received on the watch that the handler has not finished. A lower bound once it exceeds the number of events that are remembered.",
		Family: Handlers,
		Labels: informer(LabelHandler),
		Covers: []string{"S18"},
	})
	InformerHandlerPanics = counter(Metric{
		Name:   "k8s_informer_handler_panics_total",
		Help:   "Panics of a handler. They are counted in passing and never recovered.",
		Family: Handlers,
		Labels: informer(LabelHandler),
		Covers: []string{"S21"},
	})
	InformerHandlerResyncPeriod = gauge(Metric{
		Name:   "k8s_informer_handler_resync_period_seconds",
		Help:   "Seconds between the resyncs that the handler gets: what it asked for, but at least 1, and at least the shortest period asked for before the informer was started if it was added later; 0, for none, if the informer was made without resyncs. What a handler without resyncs has missed is never repaired. Handlers of one informer with different periods see different states.",
		Family: Handlers,
		Labels: informer(LabelHandler),
		Covers: []string{"P4", "O6"},
	})
	InformerHandlerLastResync = gauge(Metric{
		Name:   "k8s_informer_handler_last_resync_timestamp_seconds",
		Help:   "Unix time at which the handler was given an object by a resync last; 0 before the first.",
		Family: Handlers,
		Labels: informer(LabelHandler),
		Covers: []string{"P6"},
	})
	InformerUnchangedUpdates = counter(Metric{
		Name:   "k8s_informer_unchanged_updates_total",
		Help:   "Updates that handlers were given for objects that had not changed, by cause.",
		Family: Handlers,
		Labels: informer(LabelUnchangedCause),
		Covers: []string{"S20", "B5"},
	})
	InformerEventsLost = counter(Metric{
		Name:   "k8s_informer_events_lost_total",
		Help:   "Events lost, by reason. After an overrun an event has reached its handler, but nobody can tell any more when it was received. The others never reached a handler.",
		Family: Handlers,
		Labels: informer(LabelLostReason),
		Covers: []string{"S19"},
	})
)
