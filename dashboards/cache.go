package dashboards

func objects() panel {
	return timeSeries{
		header: header{id: 60, title: "Objects in the cache", unit: "short",
			about: "Objects that each informer holds, of the process that holds most. All processes of a program should agree; memory follows this number. A fall to 0 is a selector or a namespace that went wrong."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_objects{@informer})`, legend: legendInformer}},
	}
}

func hitRatio() panel {
	return timeSeries{
		header: header{id: 61, title: "Reads by key that found the object", unit: "percentunit",
			about: "Share of reads by key that found something. Near 100 % is normal for controllers that read what they were told about; a low share is code that looks for what is not cached: another namespace, a wrong key. No line where nothing is read."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_cache_hits_total{@informer}[$__rate_interval])) / (sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_cache_hits_total{@informer}[$__rate_interval])) + sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_cache_misses_total{@informer}[$__rate_interval])))`, legend: legendInformer}},
	}
}

func reads() panel {
	return timeSeries{
		header: header{id: 62, title: "Reads by key", unit: "ops",
			about: "Reads of the cache by key, found and not found. They are cheap: thousands a second are no reason to worry."},
		queries: []query{
			{expr: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_cache_hits_total{@informer}[$__rate_interval]))`, legend: legendInformer + " found"},
			{expr: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_cache_misses_total{@informer}[$__rate_interval]))`, legend: legendInformer + " not found"},
		},
	}
}

func lists() panel {
	return timeSeries{
		header: header{id: 63, title: "Reads of many objects", unit: "ops",
			about: "Lists and index reads of the cache, by index; * is the whole store. Many reads of the whole store of a large resource take CPU and memory: add an index."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace, index) (rate(k8s_informer_cache_lists_total{@informer}[$__rate_interval]))`, legend: legendInformer + " {{index}}"}},
	}
}
