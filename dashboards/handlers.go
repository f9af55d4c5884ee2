package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func handlerDuration(t catalog.Targets) panel {
	o := t.Of(catalog.HandlerDuration)
	return timeSeries{
		header: header{id: 50, title: "Handler duration, p99", unit: "s",
			about: "Time that a handler takes for one event, 99th percentile. Below a millisecond is normal for one that only queues a key. A slow handler delays all events behind it: move its work into workers."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, watch_namespace, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: legendHandler, traced: true}},
		goal:    &o,
	}
}

func pendingEvents() panel {
	return timeSeries{
		header: header{id: 51, title: "Pending events", unit: "short",
			about: "Events received that a handler has not finished. Around 0 is normal, with peaks at mass changes. A number that only rises is a handler that is too slow or hangs; it takes memory without a bound."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace, handler) (k8s_informer_handler_pending_events{@informer})`, legend: legendHandler}},
	}
}

func handledEvents() panel {
	return timeSeries{
		header: header{id: 52, title: "Events handled", unit: "ops",
			about: "Events that handlers finished, resyncs included, of the process with most of them. It follows the events received, with a peak at each resync. A line that drops to 0 while events are pending is a handler that hangs."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace, handler) (rate(k8s_informer_handler_duration_seconds_count{@informer}[$__rate_interval]))`, legend: legendHandler}},
	}
}

func handlers() panel {
	return timeSeries{
		header: header{id: 53, title: "Registered handlers", unit: "short",
			about: "Event handlers that are registered, summed over processes. Constant is normal; a rise without end is a leak: handlers that are added and never removed."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (k8s_informer_handlers{@informer})`, legend: legendInformer}},
	}
}

func panics() panel {
	return timeSeries{
		header: header{id: 54, title: "Panics of handlers", unit: "short",
			about: "Panics, which by default end the process. Normal is none. The stack is in the log."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace, handler) (increase(k8s_informer_handler_panics_total{@informer}[$__rate_interval]))`, legend: legendHandler}},
		stacked: true,
	}
}

func lostEvents() panel {
	return timeSeries{
		header: header{id: 55, title: "Events lost", unit: "short",
			about: "Events that never reached a handler, because a Transform function dropped them or the handler was removed first, and those whose time of receipt was forgotten because too many were waiting (overrun): these do arrive, with a lag that is only a lower bound. Normal is none."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace, reason) (increase(k8s_informer_events_lost_total{@informer}[$__rate_interval]))`, legend: legendInformer + " {{reason}}"}},
		stacked: true,
	}
}

func resyncPeriods() panel {
	return timeSeries{
		header: header{id: 56, title: "Resync periods", unit: "s",
			about: "How often handlers asked to be given every object again. 0 is none: what such a handler misses is never repaired. Handlers of one informer with different periods see different states."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace, handler) (k8s_informer_handler_resync_period_seconds{@informer})`, legend: legendHandler}},
	}
}

func sinceLastResync() panel {
	return timeSeries{
		header: header{id: 57, title: "Time since the last resync", unit: "s",
			about: "For handlers that ask for resyncs. A saw that rises to the period is normal; one that goes on rising is an informer whose resyncs have stopped."},
		queries: []query{{expr: `time() - min by (@cluster, name, informer_type, watch_namespace, handler) (k8s_informer_handler_last_resync_timestamp_seconds{@informer} > 0)`, legend: legendHandler}},
	}
}

func unchangedUpdates() panel {
	return timeSeries{
		header: header{id: 58, title: "Updates without a change", unit: "ops",
			about: "Updates that handlers were given for objects that had not changed: by a resync, or by a relist of an informer without resyncs. Peaks at the resync period are normal. A handler should compare resourceVersions and return."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, cause) (rate(k8s_informer_unchanged_updates_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{informer_type}} {{cause}}"}},
	}
}
