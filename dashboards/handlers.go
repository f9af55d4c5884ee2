package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func handlerDuration(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 50, title: "Handler duration p99", unit: "s",
			description: "99th percentile of the time a handler takes per event. Normally below a millisecond for handlers that only enqueue a key. A slow handler delays all later events: move its work to workers."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, watch_namespace, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: legendHandler, traced: true}},
		goal:    new(t.Of(catalog.Objectives.HandlerDuration)),
	}
}

func pendingEvents() panel {
	return timeSeries{
		header: header{id: 51, title: "Pending events", unit: "short",
			description: "Received events that a handler has not finished. Normally near 0, with peaks at mass changes. A steady rise means a slow or hanging handler; memory grows without limit."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace, handler) (k8s_informer_handler_pending_events{@informer})`, legend: legendHandler}},
	}
}

func handledEvents() panel {
	return timeSeries{
		header: header{id: 52, title: "Events handled", unit: "ops",
			description: "Events that handlers finished, including resyncs, for the busiest process. It follows the events received, with a peak at each resync. 0 with events pending means a hanging handler."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace, handler) (rate(k8s_informer_handler_duration_seconds_count{@informer}[$__rate_interval]))`, legend: legendHandler}},
	}
}

func handlers() panel {
	return timeSeries{
		header: header{id: 53, title: "Registered handlers", unit: "short",
			description: "Registered event handlers, summed over processes. Normally constant. A steady rise is a leak: handlers are added and never removed."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (k8s_informer_handlers{@informer})`, legend: legendInformer}},
	}
}

func panics() panel {
	return timeSeries{
		header: header{id: 54, title: "Handler panics", unit: "short",
			description: "Panics in handlers, which end the process by default. Normally none. The log has the stack."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace, handler) (increase(k8s_informer_handler_panics_total{@informer}[$__rate_interval]))`, legend: legendHandler}},
		stacked: true,
	}
}

func lostEvents() panel {
	return timeSeries{
		header: header{id: 55, title: "Lost events by reason", unit: "short",
			description: "Normally none. transform: dropped by a Transform function. stop: the handler was removed before delivery. overrun: delivered, but too many events were pending to keep the receive time, so the event lag is a lower bound."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace, reason) (increase(k8s_informer_events_lost_total{@informer}[$__rate_interval]))`, legend: legendInformer + " {{reason}}"}},
		stacked: true,
	}
}

func resyncPeriods() panel {
	return timeSeries{
		header: header{id: 56, title: "Resync periods", unit: "s",
			description: "Resync period of each handler; 0 means no resync. Without resync, a handler never sees a missed event again. Handlers of one informer with different periods can see different states."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace, handler) (k8s_informer_handler_resync_period_seconds{@informer})`, legend: legendHandler}},
	}
}

func sinceLastResync() panel {
	return timeSeries{
		header: header{id: 57, title: "Time since last resync", unit: "s",
			description: "For handlers with a resync period. Normally a sawtooth up to the period. A line that keeps rising means that resyncs have stopped."},
		queries: []query{{expr: `time() - min by (@cluster, name, informer_type, watch_namespace, handler) (k8s_informer_handler_last_resync_timestamp_seconds{@informer} > 0)`, legend: legendHandler}},
	}
}

func unchangedUpdates() panel {
	return timeSeries{
		header: header{id: 58, title: "Unchanged updates by cause", unit: "ops",
			description: "Updates delivered for unchanged objects, by a resync or a relist. Normally peaks at the resync period. Handlers should compare resource versions and return."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, cause) (rate(k8s_informer_unchanged_updates_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{informer_type}} {{cause}}"}},
	}
}
