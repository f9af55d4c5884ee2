package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func handlerDuration(t catalog.Targets) panel {
	return timeSeries{header: header{id: 50, title: "Handler duration p99", unit: "s",
		description: "99th percentile of the time a handler takes per event. Normally below a millisecond for handlers that only enqueue a key. A slow handler delays all later events: move its work to workers."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, name, informer_type, watch_namespace, handler) (rate(k8s_informer_handler_duration_seconds@bucket{@informer}[$__rate_interval])))`, legend: legendHandler, traced: true}},
		top:     true, goal: new(t.Of(catalog.Objectives.HandlerDuration)),
	}
}

func pendingEvents() panel {
	return timeSeries{header: header{id: 51, title: "Pending events", unit: "short",
		description: "Received events that a handler has not finished. Normally near 0, with peaks at mass changes. A steady rise means a slow or hanging handler; memory grows without limit."},
		top: true, queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace, handler) (k8s_informer_handler_pending_events{@informer})`, legend: legendHandler}},
	}
}

func handlerTable() panel {
	const by = informerLabels + ", handler"
	// The processes of a handler. Process metrics have no label that identifies the program.
	ofProcesses := func(metric string) string {
		const process = "@cluster, @job, @instance"
		return `max by (` + by + `) (0 * k8s_informer_handler_pending_events{@informer} + on (` + process + `) group_left () max by (` + process + `) (` + metric + `{@target}))`
	}
	return labelTable{header: header{id: 52, title: "Handlers", unit: "short",
		description: "One row per event handler. Events per minute include resyncs, for the busiest process; 0 with events pending means a hanging handler. Memory is that of the largest process, for all handlers: if it grows with the pending events, they fill the unbounded buffer of client-go. Without a resync period, a handler never sees a missed event again. A time since the last resync above the period means that resyncs have stopped."},
		labels: append(informerColumns(), column{label: "handler", title: "Handler"}),
		columns: []column{
			{title: "Pending", query: `max by (` + by + `) (k8s_informer_handler_pending_events{@informer})`},
			{title: "Resident memory", unit: "bytes", query: ofProcesses("process_resident_memory_bytes")},
			{title: "Heap", unit: "bytes", query: ofProcesses("go_memstats_heap_alloc_bytes")},
			{title: "Events/min", query: `60 * max by (` + by + `) (rate(k8s_informer_handler_duration_seconds@count{@informer}[$__rate_interval]))`},
			{title: "Resync period", unit: age, query: `max by (` + by + `) (k8s_informer_handler_resync_period_seconds{@informer} > 0)`},
			{title: "Last resync", unit: "dateTimeFromNow", query: `1000 * min by (` + by + `) (k8s_informer_handler_last_resync_timestamp_seconds{@informer} > 0)`},
		},
		sortBy: "Pending", thenBy: "Events/min",
	}
}
