package dashboards

func regressions() panel {
	return timeSeries{
		header: header{id: 80, title: "resourceVersions that went back", unit: "short",
			about: "Lists and events with a lower resourceVersion than one received before, of the process with most of them. Normal is none: an API server's versions only rise. If it happens, etcd was restored to an earlier state, or the client reached another cluster."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (increase(k8s_informer_resource_version_regressions_total{@informer}[$__rate_interval]))`, legend: legendInformer}},
		stacked: true,
	}
}

func versionDistance() panel {
	return timeSeries{
		header: header{id: 81, title: "Versions between received and stored", unit: "short",
			about: "How many changes of the whole cluster lie between the last version received and the one that the store has. 0 is normal, peaks are bursts. It counts changes to everything, so its size says little; that it stays above 0 says that the store is behind."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_resource_version{@informer, stage="received"} - ignoring (stage) (k8s_informer_resource_version{@informer, stage="stored"} > 0))`, legend: legendInformer}},
	}
}
