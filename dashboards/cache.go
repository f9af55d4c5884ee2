package dashboards

func objects() panel {
	return timeSeries{
		header: header{id: 60, title: "Cached objects", unit: "short",
			description: "Objects in each informer's cache, for the largest process. All processes of a program should agree; memory follows this number. A drop to 0 indicates a wrong selector or namespace."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_objects{@informer})`, legend: legendInformer}},
	}
}

func hitRatio() panel {
	return timeSeries{
		header: header{id: 61, title: "Cache hit ratio", unit: "percentunit",
			description: "Share of reads by key that find the object. Normally near 100%. A low ratio means that code looks up objects outside the cache, such as in another namespace or with a wrong key. No line without reads."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_cache_hits_total{@informer}[$__rate_interval])) / (sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_cache_hits_total{@informer}[$__rate_interval])) + sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_cache_misses_total{@informer}[$__rate_interval])))`, legend: legendInformer}},
	}
}

func reads() panel {
	return timeSeries{
		header: header{id: 62, title: "Cache reads by key", unit: "ops",
			description: "Reads of the cache by key, hits and misses. Reads are cheap: thousands per second are harmless."},
		queries: []query{
			{expr: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_cache_hits_total{@informer}[$__rate_interval]))`, legend: legendInformer + " hits"},
			{expr: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_cache_misses_total{@informer}[$__rate_interval]))`, legend: legendInformer + " misses"},
		},
	}
}

func lists() panel {
	return timeSeries{
		header: header{id: 63, title: "Cache lists by index", unit: "ops",
			description: "Lists and index reads of the cache; * is the whole store. Frequent lists of a large store cost CPU and memory: add an index."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace, index) (rate(k8s_informer_cache_lists_total{@informer}[$__rate_interval]))`, legend: legendInformer + " {{index}}"}},
	}
}

func upstreamQueue() panel {
	return timeSeries{
		header: header{id: 110, title: "Queued items in client-go", unit: "short",
			description: "Items received but not yet in the cache, for the worst process. Normally near 0, with peaks at lists. A value that stays high means a slow store or slow indexers. No line where client-go's metrics are not enabled."},
		queries: []query{{expr: `max by (@cluster, name, group, version, resource) (informer_queued_items{@program})`, legend: legendUpstream}},
	}
}

func upstreamLatency() panel {
	return timeSeries{
		header: header{id: 111, title: "Processing latency in client-go, p99", unit: "s",
			description: "99th percentile of the time to store and distribute a batch of items. Normally milliseconds. More means costly indexers or, for informers with a single handler, a slow handler."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, group, version, resource) (rate(informer_processing_latency_seconds_bucket{@program}[$__rate_interval])))`, legend: legendUpstream}},
	}
}

func upstreamSpread() panel {
	return timeSeries{
		header: header{id: 112, title: "Resource version spread between replicas", unit: "short",
			description: "Difference between the cached resource versions of a program's processes. Normally near 0 for busy resources; idle ones move with bookmarks, about once a minute. A steady rise is a replica whose watch has stopped."},
		queries: []query{{expr: `max by (@cluster, name, group, version, resource) (informer_store_resource_version{@program}) - min by (@cluster, name, group, version, resource) (informer_store_resource_version{@program})`, legend: legendUpstream}},
	}
}
