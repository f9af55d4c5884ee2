package dashboards

func regressions() panel {
	return timeSeries{
		header: header{id: 80, title: "Resource version regressions", unit: "short",
			description: "Lists and events with a lower resource version than received before, for the worst process. Normally none. Causes: etcd was restored from a backup, or the client reached another cluster."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (increase(k8s_informer_resource_version_regressions_total{@informer}[$__rate_interval]))`, legend: legendInformer}},
		stacked: true,
	}
}

func versionDistance() panel {
	return timeSeries{
		header: header{id: 81, title: "Resource version distance, received to stored", unit: "short",
			description: "Difference between the last resource version received and the last one stored. Normally 0, with peaks during bursts. It counts writes to all resources of the cluster, so the size means little; a line that stays above 0 is a stale cache."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_resource_version{@informer, stage="received"} - ignoring (stage) (k8s_informer_resource_version{@informer, stage="stored"} > 0))`, legend: legendInformer}},
	}
}
