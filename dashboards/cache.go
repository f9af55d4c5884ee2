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
