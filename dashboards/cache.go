package dashboards

func objects() panel {
	return timeSeries{header: header{id: 60, title: "Cached objects", unit: "short",
		description: "Objects in each informer's cache, for the largest process. All processes of a program should have the same number. Memory grows with it. A drop to 0 indicates a wrong selector or namespace."},
		top: true, queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_objects{@informer})`, legend: legendInformer}},
	}
}

func hitRatio() panel {
	reads := func(metric string) string {
		return `sum by (` + informerLabels + `) (rate(` + metric + `{@informer}[$__rate_interval]))`
	}
	hits, misses := reads("k8s_informer_cache_hits_total"), reads("k8s_informer_cache_misses_total")
	return timeSeries{header: header{id: 63, title: "Cache hit ratio", unit: "percentunit",
		description: "Share of reads by key that find the object. Normally near 100% after a start; no data without reads. Misses are lookups of objects that are not in the cache: deleted, filtered by a selector, or of another namespace."},
		ceiling: 1, top: true, queries: []query{{expr: hits + ` / (` + hits + ` + ` + misses + ` > 0)`, legend: legendInformer}},
	}
}

func cacheTable() panel {
	sum := func(metric string) string {
		return `60 * sum by (` + informerLabels + `) (rate(` + metric + `{@informer}[$__rate_interval]))`
	}
	return labelTable{header: header{id: 62, title: "Caches", unit: "short",
		description: "One row per informer, over all processes. Reads by key are cheap. Frequent lists of a large cache cost CPU: add an index. Unchanged updates come from resyncs and relists. Same generation: share of delivered events that update only the status or metadata; if handlers ignore these, a predicate such as GenerationChangedPredicate saves their reconciles. A growing number of handlers is a leak. A transform (1) changes the objects for all handlers. Audits take about two seconds for 10,000 objects. Store lag: age of the oldest event that was received and is not in the cache; normally 0. Undelivered: writes to the cluster between the last version received and the last one stored; normally 0."},
		labels: informerColumns(),
		columns: []column{
			{title: "Objects", query: `max by (` + informerLabels + `) (k8s_informer_objects{@informer})`},
			{title: "Reads/min", query: sum("k8s_informer_cache_hits_total") + ` + ` + sum("k8s_informer_cache_misses_total")},
			{title: "Lists/min", query: sum("k8s_informer_cache_lists_total")},
			{title: "Unchanged updates/min", query: sum("k8s_informer_unchanged_updates_total")},
			{title: "Same generation", unit: "percentunit", query: `sum by (` + informerLabels + `) (rate(k8s_informer_same_generation_updates_total{@informer}[$__rate_interval])) / (sum by (` + informerLabels + `) (rate(k8s_informer_event_lag_seconds@count{@informer}[$__rate_interval])) > 0) or 0 * max by (` + informerLabels + `) (k8s_informer_handlers{@informer})`},
			{title: "Handlers", query: `sum by (` + informerLabels + `) (k8s_informer_handlers{@informer})`},
			{title: "Transform", query: `max by (` + informerLabels + `) (k8s_informer_transforms{@informer}) or 0 * max by (` + informerLabels + `) (k8s_informer_handlers{@informer})`},
			{title: "Mean audit", unit: "s", query: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_audit_duration_seconds_sum{@informer}[$__range])) / (sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_audit_duration_seconds_count{@informer}[$__range])) > 0)`},
			{title: "Store lag", unit: "s", query: `max by (` + informerLabels + `) (k8s_informer_store_lag_seconds{@informer})`},
			{title: "Undelivered", query: `max by (` + informerLabels + `) (k8s_informer_resource_version{@informer, stage="received"} - ignoring (stage) (k8s_informer_resource_version{@informer, stage="stored"} > 0))`},
		},
		sortBy: []string{"Objects"},
	}
}

func upstreamTable() panel {
	const by = `@cluster, name, group, version, resource`
	return labelTable{header: header{id: 110, title: "Informers in client-go's metrics", unit: "short",
		description: "One row per informer, with or without the library, where client-go's metrics are enabled. Queued: items received but not yet in the cache, normally near 0. Latency: time to store and distribute a batch. Version spread: difference between the processes of a program, normally near 0 for busy resources; a steady rise means that the watch of one replica has stopped."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program", link: &link{uid: DetailUID, title: "Only this program", sets: []string{"cluster", "name"}}},
			{label: "group", title: "Group"}, {label: "version", title: "Version", narrow: true}, {label: "resource", title: "Resource"},
		},
		columns: []column{
			{title: "Queued", query: `max by (` + by + `) (informer_queued_items{@program})`},
			{title: "Latency p99", unit: "s", query: `histogram_quantile(0.99, sum by (@le, ` + by + `) (rate(informer_processing_latency_seconds@bucket{@program}[$__rate_interval]))) >= 0`},
			{title: "Version spread", query: `max by (` + by + `) (informer_store_resource_version{@program}) - min by (` + by + `) (informer_store_resource_version{@program})`},
		},
		sortBy: []string{"Queued", "Version spread"},
	}
}
