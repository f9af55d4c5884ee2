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

func memory() panel {
	// Process metrics have no label that identifies the program. A process counts once for all jobs that scrape it.
	of := func(metric string) string {
		return `max by (` + programLabels + `, @instance) (max by (@cluster, @job, @instance) (` + metric + `{@target}) * on (@cluster, @job, @instance) group_right () group by (` + programLabels + `, @job, @instance) (k8s_informer_synced{@informer}))`
	}
	return timeSeries{header: header{id: 53, title: "Memory by process", unit: "bytes",
		description: "Resident memory and Go heap of the processes with the selected informers. Normally level, with the heap falling at each garbage collection. Memory grows with the cached objects. If it grows with the pending events instead, they fill the unbounded buffer of client-go: speed up the handler."},
		queries: []query{
			{expr: of("process_resident_memory_bytes"), legend: legendProgram + " {{@instance}} resident"},
			{expr: of("go_memstats_heap_alloc_bytes"), legend: legendProgram + " {{@instance}} heap"},
		},
		top: true,
	}
}

func lostEvents() panel {
	return timeSeries{header: header{id: 54, title: "Lost events by reason", unit: "short",
		description: "Events that never reached a handler. Normally none. transform, list: a transform returned nil. index: an index function failed. stop: the informer stopped first. Lag unknown: these events were handled, but more were pending than the library remembers, so their lag was not measured."},
		stacked: true, queries: []query{
			{expr: occurrences(`k8s_informer_events_lost_total{@informer}`, `@cluster, name, reason`), legend: "{{@cluster}} {{name}} {{reason}}"},
			{expr: occurrences(`k8s_informer_unmeasured_events_total{@informer}`, `@cluster, name`), legend: "{{@cluster}} {{name}} lag unknown"},
		},
	}
}

func handlerTable() panel {
	const by = informerLabels + ", handler"
	return labelTable{header: header{id: 52, title: "Handlers", unit: "short",
		description: "One row per event handler. Events per minute include resyncs, for the busiest process; 0 with events pending means a hanging handler. Without a resync period, a handler never sees a missed event again. A time since the last resync above the period means that resyncs have stopped."},
		labels: append(informerColumns(), column{label: "handler", title: "Handler"}),
		columns: []column{
			{title: "Pending", query: `max by (` + by + `) (k8s_informer_handler_pending_events{@informer})`},
			{title: "Events/min", query: `60 * max by (` + by + `) (rate(k8s_informer_handler_duration_seconds@count{@informer}[$__rate_interval]))`},
			{title: "Resync period", unit: age, query: `max by (` + by + `) (k8s_informer_handler_resync_period_seconds{@informer} > 0)`},
			{title: "Last resync", unit: "dateTimeFromNow", query: `1000 * min by (` + by + `) (k8s_informer_handler_last_resync_timestamp_seconds{@informer} > 0)`},
		},
		sortBy: []string{"Pending", "Events/min"},
	}
}
