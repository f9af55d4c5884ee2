package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func kinds() panel {
	return timeSeries{
		header: header{id: 70, title: "Resources that the exporter cannot watch", unit: "short",
			about: "Exporters that were asked for a resource and may not watch it, or whose server does not have it. Normal is 0. Otherwise grant list and watch in the ClusterRole, or take the resource out of the configuration."},
		queries: []query{{expr: `sum by (cluster, informer_type) (informer_exporter_kind_up{@kind} == bool 0)`, legend: "{{cluster}} {{informer_type}}"}},
	}
}

func watchedKinds() panel {
	return timeSeries{
		header: header{id: 76, title: "Resources that the exporter has found", unit: "short",
			about: "Resources that the exporter's configuration asks for, by what has become of them. Forbidden ones were found, by a pattern or as custom resources, and are left out: grant list and watch on them in the ClusterRole to see them, or exclude them."},
		queries: []query{{expr: `max by (cluster, instance, state) (informer_exporter_kinds{@target})`, legend: "{{cluster}} {{instance}} {{state}}"}},
	}
}

func discoveries() panel {
	return timeSeries{
		header: header{id: 77, title: "Questions what the API server serves", unit: "short",
			about: "How often the exporter asked what can be watched. Normal is one in five minutes, and a few whenever a CustomResourceDefinition changes, all complete. Partial: an aggregated API server is down. Failed: no answer."},
		queries: []query{{expr: `sum by (cluster, instance, result) (increase(informer_exporter_discoveries_total{@target}[$__rate_interval]))`, legend: "{{cluster}} {{instance}} {{result}}"}},
		stacked: true,
	}
}

func reloads(t catalog.Targets) panel {
	o := t.Of(catalog.ExporterConfigReload)
	return grid{
		header: header{id: 78, title: "Configurations of exporters", unit: "short",
			about: "One row for each exporter. No in the first column means that its configuration file cannot be used and the one before it is in force; its log says why."},
		labels: []column{{label: "cluster", title: "Cluster"}, {label: "instance", title: "Instance"}},
		columns: []column{
			{title: "In force", bad: true, under: true, red: o.Threshold, words: yesNo, query: `min by (cluster, instance) (informer_exporter_config_last_reload_successful{@target})`},
			{title: "Last read", unit: "dateTimeFromNow", query: `1000 * max by (cluster, instance) (informer_exporter_config_last_reload_success_timestamp_seconds{@target})`},
		},
		sortBy: "In force",
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
