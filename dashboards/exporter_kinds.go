package dashboards

func kindsDown() panel {
	return single{
		header: header{id: 8, title: "Kinds denied", unit: "short",
			about: "Resources that the exporter was asked to watch and may not, or that the server does not have. Normal is 0; No data means that no exporter runs. Otherwise compare its ClusterRole and configuration."},
		query: `sum(max by (@cluster, informer_type) (informer_exporter_kind_up{@target} == bool 0))`,
		red:   1,
	}
}

func kinds() panel {
	return timeSeries{
		header: header{id: 70, title: "Resources that the exporter cannot watch", unit: "short",
			about: "Exporters that were asked for a resource and may not watch it, or whose server does not have it. Normal is 0. Otherwise grant list and watch in the ClusterRole, or take the resource out of the configuration."},
		queries: []query{{expr: `sum by (@cluster, informer_type) (informer_exporter_kind_up{@target} == bool 0)`, legend: "{{@cluster}} {{informer_type}}"}},
	}
}

func watchedKinds() panel {
	return timeSeries{
		header: header{id: 76, title: "Resources that the exporter has found", unit: "short",
			about: "Resources that the exporter's configuration asks for, by what has become of them. Forbidden ones were found, by a pattern or as custom resources, and are left out: grant list and watch on them in the ClusterRole to see them, or exclude them."},
		queries: []query{{expr: `max by (@cluster, @instance, state) (informer_exporter_kinds{@target})`, legend: "{{@cluster}} {{@instance}} {{state}}"}},
	}
}

func discoveries() panel {
	return timeSeries{
		header: header{id: 77, title: "Discovery by result", unit: "short",
			about: "How often the exporter asked what can be watched. Normal is one in five minutes, and a few whenever a CustomResourceDefinition changes, all complete. Partial: an aggregated API server is down. Failed: no answer."},
		queries: []query{{expr: `sum by (@cluster, @instance, result) (increase(informer_exporter_discoveries_total{@target}[$__rate_interval]))`, legend: "{{@cluster}} {{@instance}} {{result}}"}},
		stacked: true,
		colours: resultColours("complete", "partial|failed"),
	}
}

func shards() panel {
	return timeSeries{
		header: header{id: 79, title: "Shards that do not report", unit: "short",
			about: "Exporters with --shard that should be there, by how many the others were told that share the work, and are not. What falls to them is watched by nobody. Normal is 0, also where one exporter does all of the work. A jump while their number changes is normal, too."},
		queries: []query{{expr: `max by (@cluster, @job) (informer_exporter_shards{@target}) - count by (@cluster, @job) (group by (@cluster, @job, shard) (informer_exporter_shards{@target}))`, legend: "{{@cluster}} {{@job}}"}},
	}
}
