package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func exporters() panel {
	return single{
		header: header{id: 1, title: "Exporters", unit: "short",
			about: "Exporters that are scraped. As many as there are replicas is normal; No data means that none is: follow the runbook of InformerExporterAbsent."},
		query: `count(informer_exporter_build_info{@target})`,
	}
}

func exportersBehind(t catalog.Targets) panel {
	o := t.Of(catalog.SyncLag)
	return single{
		header: header{id: 2, title: "Worst own lag", unit: "s",
			about: "How far the exporter's own cache that is furthest behind trails the API server. What it says about the cluster is as old. Normal is 0. The objective is " + o.Goal() + "."},
		query: `max(k8s_informer_sync_lag_seconds{@target}` + ofExporters + `)`,
		red:   o.Threshold,
	}
}

func configurationsRefused(t catalog.Targets) panel {
	return single{
		header: header{id: 3, title: "Configurations refused", unit: "short",
			about: "Exporters whose configuration file cannot be used; what was in force before it still is. Normal is 0. The log says which line is wrong."},
		query: `sum(informer_exporter_config_last_reload_successful{@target} < bool ` + catalog.FormatNumber(t.Of(catalog.ExporterConfigReload).Threshold) + `)`,
		red:   1,
	}
}

func largestExporter() panel {
	return single{
		header: header{id: 4, title: "Most memory", unit: "bytes",
			about: "Resident memory of the largest exporter. It follows what is watched: about 0.6 KiB for each object, and a quarter of a MiB for each kind."},
		query: `max(process_resident_memory_bytes{@target}` + ofExporters + `)`,
	}
}

func slowestScrape() panel {
	return single{
		header: header{id: 5, title: "Slowest scrape", unit: "s",
			about: "How long Prometheus waited for the metrics of the slowest exporter at its last scrape. Below 50 ms is normal with the 23 default kinds, and three times that with 100 more."},
		query: `max(scrape_duration_seconds{@target}` + ofExporters + `)`,
	}
}

func ownRequestRate() panel {
	return single{
		header: header{id: 6, title: "Own requests", unit: "cpm",
			about: "What all exporters together ask the API server for in a minute. Some 50 for each exporter with the 23 default kinds are normal."},
		query: `60 * sum(rate(k8s_client_requests_total{@target}[$__rate_interval])` + ofExporters + `)`,
	}
}

func everyExporter(t catalog.Targets) panel {
	reload := t.Of(catalog.ExporterConfigReload)
	return grid{
		header: header{id: 7, title: "Every exporter", unit: "short",
			about: "One row for each exporter. One version in each cluster is normal, two during a roll-out, and a configuration in force. Leads is empty without --leader-elect; otherwise one yes for each shard is normal."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "instance", title: "Instance"},
			{label: "version", title: "Version"}, {label: "revision", title: "Revision"}, {label: "goversion", title: "Go"},
		},
		columns: []column{
			{title: "Up since", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, @instance) (process_start_time_seconds{@target}` + ofExporters + `)`},
			{title: "Configured", bad: true, under: true, red: reload.Threshold, words: yesNo, query: `min by (@cluster, @instance) (informer_exporter_config_last_reload_successful{@target})`},
			{title: "Read", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, @instance) (informer_exporter_config_last_reload_success_timestamp_seconds{@target})`},
			{title: "Resources", query: `sum by (@cluster, @instance) (informer_exporter_kinds{@target, state="watched"})`},
			{title: "Objects", query: `sum by (@cluster, @instance) (k8s_informer_objects{@target}` + ofExporters + `)`},
			{title: "Memory", unit: "bytes", query: `max by (@cluster, @instance) (process_resident_memory_bytes{@target}` + ofExporters + `)`},
			{title: "Leads", words: yesNo, query: `max by (@cluster, @instance) (controller_leader{@target}` + ofExporters + `)`},
			{hidden: true, query: `max by (@cluster, @instance, version, revision, goversion) (informer_exporter_build_info{@target})`},
		},
		sortBy: "Memory",
	}
}

func overflows() panel {
	return timeSeries{
		header: header{id: 72, title: "Labels without room for another value", unit: "short",
			about: "Informers, handlers and indexes that are reported as \"other\" because a label has as many values as it may have, of the worst process of each program. Normal is none. Otherwise what they do cannot be told apart: raise the label's limit in Options.Limits, after a look whether the values are right."},
		queries: []query{{expr: `max by (@cluster, name, label) (increase(k8s_informer_label_overflow_total{@target}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{label}}"}},
		stacked: true,
	}
}
