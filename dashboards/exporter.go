package dashboards

func kinds() panel {
	return timeSeries{
		header: header{id: 70, title: "Resources that the exporter cannot watch", unit: "short",
			about: "Exporters that were asked for a resource and may not watch it, or whose server does not have it. Normal is 0. Otherwise grant list and watch in the ClusterRole, or take the resource out of the configuration."},
		queries: []query{{expr: `sum by (cluster, informer_type) (informer_exporter_kind_up{@kind} == bool 0)`, legend: "{{cluster}} {{informer_type}}"}},
	}
}

func versions() panel {
	return grid{
		header: header{id: 71, title: "Exporters", unit: "short",
			about: "Exporters by version. One version in each cluster is normal, two during a roll-out. No row means that no exporter is scraped."},
		labels: []column{{label: "cluster", title: "Cluster"}, {label: "version", title: "Version"}, {label: "revision", title: "Revision"}, {label: "goversion", title: "Go"}},
		columns: []column{
			{title: "Exporters", query: `count by (cluster, version, revision, goversion) (informer_exporter_build_info{@target})`},
		},
		sortBy: "Exporters",
	}
}

func overflows() panel {
	return timeSeries{
		header: header{id: 72, title: "Labels without room for another value", unit: "short",
			about: "Informers, handlers and indexes that are reported as \"other\" because a label has as many values as it may have. Normal is none. Otherwise what they do cannot be told apart: raise the label's limit in Options.Limits, after a look whether the values are right."},
		queries: []query{{expr: `sum by (cluster, name, label) (increase(k8s_informer_label_overflow_total{@program}[$__rate_interval]))`, legend: "{{cluster}} {{name}} {{label}}"}},
		stacked: true,
	}
}
