package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func handlerDuration(t catalog.Targets) panel {
	o := t.Of(catalog.HandlerDuration)
	return timeSeries{
		header: header{id: 50, title: "Handler duration, p99", unit: "s",
			about: "Time that a handler takes for one event, 99th percentile. Below a millisecond is normal for one that only queues a key. A slow handler delays all events behind it: move its work into workers."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, cluster, name, informer_type, namespace, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@}[$__rate_interval])))`, legend: legendHandler}},
		goal:    &o,
	}
}

func pendingEvents() panel {
	return timeSeries{
		header: header{id: 51, title: "Pending events", unit: "short",
			about: "Events received that a handler has not finished. Around 0 is normal, with peaks at mass changes. A number that only rises is a handler that is too slow or hangs; it takes memory without a bound."},
		queries: []query{{expr: `max by (cluster, name, informer_type, namespace, handler) (k8s_informer_handler_pending_events{@})`, legend: legendHandler}},
	}
}

func handledEvents() panel {
	return timeSeries{
		header: header{id: 52, title: "Events handled", unit: "ops",
			about: "Events that handlers finished, resyncs included. It follows the events received, with a peak at each resync. A line that drops to 0 while events are pending is a handler that hangs."},
		queries: []query{{expr: `sum by (cluster, name, informer_type, namespace, handler) (rate(k8s_informer_handler_duration_seconds_count{@}[$__rate_interval]))`, legend: legendHandler}},
	}
}

func handlers() panel {
	return timeSeries{
		header: header{id: 53, title: "Registered handlers", unit: "short",
			about: "Event handlers that are registered, summed over processes. Constant is normal; a rise without end is a leak: handlers that are added and never removed."},
		queries: []query{{expr: `sum by (cluster, name, informer_type, namespace) (k8s_informer_handlers{@})`, legend: legendInformer}},
	}
}

func panics() panel {
	return timeSeries{
		header: header{id: 54, title: "Panics of handlers", unit: "short",
			about: "Panics, which by default end the process. Normal is none. The stack is in the log."},
		queries: []query{{expr: `sum by (cluster, name, informer_type, namespace, handler) (increase(k8s_informer_handler_panics_total{@}[$__rate_interval]))`, legend: legendHandler}},
		stacked: true,
	}
}

func lostEvents() panel {
	return timeSeries{
		header: header{id: 55, title: "Events lost from view", unit: "short",
			about: "Events whose time of receipt was forgotten because too many were waiting. Normal is none. They still reach their handlers; lag is a lower bound meanwhile."},
		queries: []query{{expr: `sum by (cluster, name, informer_type, namespace, reason) (increase(k8s_informer_events_lost_total{@}[$__rate_interval]))`, legend: legendInformer + " {{reason}}"}},
		stacked: true,
	}
}
