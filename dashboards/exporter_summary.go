package dashboards

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

var exporters = singleStat{header: header{id: 1, title: "Exporters", unit: "short",
	description: "Exporters that are scraped. Normally the number of replicas. No data: see the runbook of InformerExporterAbsent."},
	query: `count(group by (@cluster, @instance) (informer_exporter_build_info{@target}))`,
}

var exporterSyncLag = singleStat{header: header{id: 2, title: "Sync lag", unit: age,
	description: "Sync lag of the exporter's worst cache; its metrics lag by the same time. Normally 0."},
	query: `max(k8s_informer_sync_lag_seconds{@target}` + ofExporters + `)`,
	goal:  &catalog.Objectives.SyncLag,
}

func configReloadErrors(t catalog.Targets) panel {
	return singleStat{header: header{id: 3, title: "Config errors", unit: "short",
		description: "Exporters with an invalid configuration file; the previous configuration stays in effect. Normally 0. The log names the line."},
		red: 1, query: `sum(informer_exporter_config_last_reload_successful{@target} < bool ` + catalog.FormatNumber(t.Of(catalog.Objectives.ExporterConfigReload).Threshold) + `)`,
	}
}

var largestExporter = singleStat{header: header{id: 4, title: "Memory", unit: "bytes",
	description: "Resident memory of the largest exporter. It grows by about 0.4 KiB per watched object and at most 0.25 MiB per resource."},
	query: `max(process_resident_memory_bytes{@target}` + ofExporters + `)`,
}

var memoryLimitNow = singleStat{header: header{id: 10, title: "Memory limit", unit: "percentunit", zero: "No limit",
	description: "Heap relative to the Go memory limit, for the exporter closest to it. The exporter derives the limit from its container."},
	query: `round(max(` + heapUsed + `), 0.001)`,
	goal:  &catalog.Objectives.ExporterMemory,
}

var slowestScrape = singleStat{header: header{id: 5, title: "Scrape duration", unit: "s",
	description: "Duration of the last scrape, for the slowest exporter. Normally below 50 ms with the 23 default resources, or 150 ms with 100 more resources."},
	query: `max(scrape_duration_seconds{@target}` + ofExporters + `)`,
	goal:  &catalog.Objectives.ScrapeDuration,
}

var ownRequestRate = singleStat{header: header{id: 6, title: "Requests/min", unit: "short",
	description: "Requests per minute of all exporters to the API server. Normally about 10 per exporter with the 23 default resources."},
	query: `60 * sum(rate(k8s_client_requests_total{@target}[$__rate_interval])` + ofExporters + `)`,
}

var exporterTable = labelTable{header: header{id: 7, title: "Exporters by memory", unit: "short",
	description: "One row per exporter. Normally one version per cluster (two during a rollout) and a valid configuration. Leader is empty without --leader-elect; otherwise, one per shard is normal."},
	labels: []column{
		{label: "cluster", title: "Cluster"}, {label: "instance", title: "Instance", link: &link{uid: ExporterUID, title: "Only this exporter", sets: []string{"cluster", "instance"}}},
		{label: "version", title: "Version"}, {label: "revision", title: "Revision"}, {label: "goversion", title: "Go"},
	},
	columns: []column{
		{title: "Started", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, @instance) (process_start_time_seconds{@target}` + ofExporters + `)`},
		{title: "Config valid", goal: &catalog.Objectives.ExporterConfigReload, names: yesNo, query: `min by (@cluster, @instance) (informer_exporter_config_last_reload_successful{@target})`},
		{title: "Config loaded", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, @instance) (informer_exporter_config_last_reload_success_timestamp_seconds{@target})`},
		{title: "Resources", query: `sum by (@cluster, @instance) (informer_exporter_kinds{@target, state="watched"})`},
		{title: "Objects", query: `sum by (@cluster, @instance) (k8s_informer_objects{@target}` + ofExporters + `)`},
		{title: "Memory", unit: "bytes", query: `max by (@cluster, @instance) (process_resident_memory_bytes{@target}` + ofExporters + `)`},
		{title: "Leader", names: yesNo, query: `max by (@cluster, @instance) (controller_leader{@target}` + ofExporters + `)`},
		{hidden: true, query: `max by (@cluster, @instance, version, revision, goversion) (informer_exporter_build_info{@target})`},
	},
	sortBy: []string{"Memory"},
}

var labelOverflow = timeSeries{header: header{id: 72, title: "Label overflow", unit: "short",
	description: "Informers, handlers and indexes reported as \"other\" because a label limit is reached, for the worst process of each program. Normally none. Check that the label values are expected, then raise the limit in Options.Limits."},
	stacked: true, queries: []query{{expr: `max by (@cluster, name, label) (` + prom.Occurred(`k8s_informer_label_overflow_total{@target}`, `$__rate_interval`) + `)`, legend: "{{@cluster}} {{name}} {{label}}"}},
}

var traceSpans = timeSeries{header: header{id: 90, title: "Trace spans by result", unit: "short", empty: "No tracing",
	description: "Spans of traced programs, exported or dropped. Normally all are exported. queue_full and export_error: the receiver is down, slow or rejects spans; the program is not slowed down. tail_buffer_full: raise Tail.MaxSpans. shutdown: the last spans of a process."},
	stacked: true, queries: []query{
		{expr: occurrences(`controller_trace_spans_exported_total{@target}`, programLabels), legend: "{{@cluster}} {{name}} exported"},
		{expr: occurrences(`controller_trace_spans_dropped_total{@target}`, `@cluster, name, reason`) + ` > 0`, legend: "{{@cluster}} {{name}} {{reason}}"},
	},
}
