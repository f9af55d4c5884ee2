package catalog

// Event handlers.
var (
	InformerHandlers = define(Metric{
		Name:   "k8s_informer_handlers",
		Help:   "Event handlers that are registered now.",
		Kind:   Gauge,
		Family: Handlers,
		Labels: informer(),
		Covers: []string{"S22"},
	})
	InformerHandlerDuration = define(Metric{
		Name:    "k8s_informer_handler_duration_seconds",
		Help:    "Seconds that a handler took for one event, resyncs included.",
		Kind:    Histogram,
		Family:  Handlers,
		Labels:  informer(LabelHandler),
		Buckets: handlerBuckets,
		Covers:  []string{"B2", "B7"},
	})
	InformerHandlerPending = define(Metric{
		Name:   "k8s_informer_handler_pending_events",
		Help:   "Events received on the watch that the handler has not finished. A lower bound once it exceeds the number of events that are remembered.",
		Kind:   Gauge,
		Family: Handlers,
		Labels: informer(LabelHandler),
		Covers: []string{"S18"},
	})
	InformerHandlerPanics = define(Metric{
		Name:   "k8s_informer_handler_panics_total",
		Help:   "Panics of a handler. They are counted in passing and never recovered.",
		Kind:   Counter,
		Family: Handlers,
		Labels: informer(LabelHandler),
		Covers: []string{"S21"},
	})
	InformerEventsLost = define(Metric{
		Name:   "k8s_informer_events_lost_total",
		Help:   "Events lost from view, by reason. An overrun loses the time of receipt, not the event: it reached its handler, later than can be told.",
		Kind:   Counter,
		Family: Handlers,
		Labels: informer(LabelLostReason),
		Covers: []string{"S19"},
	})
)
