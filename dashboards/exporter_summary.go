package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func exporters() panel {
	return singleStat{
		header: header{id: 1, title: "Exporters", unit: "short",
			description: "Exporters that are scraped. Normally the number of replicas. No data: see the runbook of InformerExporterAbsent."},
		query: `count(informer_exporter_build_info{@target})`,
	}
}

func exporterSyncLag(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 2, title: "Sync lag", unit: "s",
			description: "Sync lag of the exporter's worst cache; its metrics lag by the same time. Normally 0."},
		query: `max(k8s_informer_sync_lag_seconds{@target}` + ofExporters + `)`,
		goal:  new(t.Of(catalog.Objectives.SyncLag)),
	}
}

func configReloadErrors(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 3, title: "Config reload errors", unit: "short",
			description: "Exporters whose configuration file is invalid; the previous configuration stays in force. Normally 0. The log names the line."},
		query: `sum(informer_exporter_config_last_reload_successful{@target} < bool ` + catalog.FormatNumber(t.Of(catalog.Objectives.ExporterConfigReload).Threshold) + `)`,
		red:   1,
	}
}

func largestExporter() panel {
	return singleStat{
		header: header{id: 4, title: "Resident memory", unit: "bytes",
			description: "Resident memory of the largest exporter. It grows by about 0.6 KiB per watched object and 0.25 MiB per resource."},
		query: `max(process_resident_memory_bytes{@target}` + ofExporters + `)`,
	}
}

func slowestScrape() panel {
	return singleStat{
		header: header{id: 5, title: "Scrape duration", unit: "s",
			description: "Duration of the last scrape, for the slowest exporter. Normally below 50 ms with the 23 default resources, three times as much with 100 more."},
		query: `max(scrape_duration_seconds{@target}` + ofExporters + `)`,
	}
}

func ownRequestRate() panel {
	return singleStat{
		header: header{id: 6, title: "API server requests", unit: "cpm",
			description: "Requests per minute of all exporters to the API server. Normally about 50 per exporter with the 23 default resources."},
		query: `60 * sum(rate(k8s_client_requests_total{@target}[$__rate_interval])` + ofExporters + `)`,
	}
}

func exporterTable(t catalog.Targets) panel {
	reload := t.Of(catalog.Objectives.ExporterConfigReload)
	return labelTable{
		header: header{id: 7, title: "Exporters by memory", unit: "short",
			description: "One row per exporter. Normally one version per cluster (two during a rollout) and a valid configuration. Leader is empty without --leader-elect; otherwise, one per shard is normal."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "instance", title: "Instance"},
			{label: "version", title: "Version"}, {label: "revision", title: "Revision"}, {label: "goversion", title: "Go"},
		},
		columns: []column{
			{title: "Started", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, @instance) (process_start_time_seconds{@target}` + ofExporters + `)`},
			{title: "Config valid", below: true, red: reload.Threshold, names: yesNo, query: `min by (@cluster, @instance) (informer_exporter_config_last_reload_successful{@target})`},
			{title: "Config loaded", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, @instance) (informer_exporter_config_last_reload_success_timestamp_seconds{@target})`},
			{title: "Resources", query: `sum by (@cluster, @instance) (informer_exporter_kinds{@target, state="watched"})`},
			{title: "Objects", query: `sum by (@cluster, @instance) (k8s_informer_objects{@target}` + ofExporters + `)`},
			{title: "Memory", unit: "bytes", query: `max by (@cluster, @instance) (process_resident_memory_bytes{@target}` + ofExporters + `)`},
			{title: "Leader", names: yesNo, query: `max by (@cluster, @instance) (controller_leader{@target}` + ofExporters + `)`},
			{hidden: true, query: `max by (@cluster, @instance, version, revision, goversion) (informer_exporter_build_info{@target})`},
		},
		sortBy: "Memory",
	}
}

func labelOverflow() panel {
	return timeSeries{
		header: header{id: 72, title: "Label overflow", unit: "short",
			description: "Informers, handlers and indexes reported as \"other\" because a label limit is reached, for the worst process of each program. Normally none. Check that the label values are expected, then raise the limit in Options.Limits."},
		queries: []query{{expr: `max by (@cluster, name, label) (increase(k8s_informer_label_overflow_total{@target}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{label}}"}},
		stacked: true,
	}
}
