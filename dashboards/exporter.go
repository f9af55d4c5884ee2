package dashboards

// exporterItself covers the exporter: its resources and its cost.
func exporterItself(c Config) page {
	t := c.Targets
	return page{
		uid:         ExporterUID,
		title:       "Informers / Exporter",
		description: "Watched and missing resources of informer-exporter, and its memory, CPU, series and API server requests.",
		variables:   exporterVariables,
		alerts:      exporterAlerts,
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, panels: []panel{
					exporters, exporterSyncLag, kindsDown, configReloadErrors(t),
					largestExporter, memoryLimitNow, slowestScrape, ownRequestRate,
				}},
				{height: 6, panels: []panel{exporterTable}},
			}},
			{id: 200, title: "Coverage", lines: []line{
				{height: 8, panels: []panel{kindsDownByResource, shards, watchedKinds, discoveries}},
				{height: 7, panels: []panel{labelOverflow, droppedSeries, traceSpans}},
				{height: 7, panels: []panel{stateMetrics}},
			}},
			{id: 300, title: "Cost", lines: []line{
				{height: 9, panels: []panel{residentMemory, memoryLimitUsed, cpuTime, goroutines}},
				{height: 9, panels: []panel{ownRequests, scrapeDuration, scrapedSamples}},
			}},
		},
	}
}

var kindsDown = singleStat{header: header{id: 8, title: "Resources down", unit: "short",
	description: "Configured resources that the exporter is not allowed to watch, that the API server does not serve, or for which no watch has opened yet. Normally 0. No data: no exporter runs. Compare its ClusterRole with the configuration."},
	red: 1, query: `sum(max by (@cluster, informer_type) (informer_exporter_kind_up{@target} == bool 0))`,
}

var kindsDownByResource = timeSeries{header: header{id: 70, title: "Resources down by resource", unit: "short",
	description: "Exporters that cannot watch a configured resource: they are not allowed to, the API server does not serve it, or no watch has opened yet. Normally 0. Grant list and watch in the ClusterRole, or remove the resource from the configuration."},
	queries: []query{{expr: `sum by (@cluster, informer_type) (informer_exporter_kind_up{@target} == bool 0)`, legend: "{{@cluster}} {{informer_type}}"}},
}

var watchedKinds = timeSeries{header: header{id: 76, title: "Resources by state", unit: "short",
	description: "Resources selected by the exporter's configuration. forbidden: discovered by a pattern or as custom resources, and skipped for lack of permissions. Grant list and watch in the ClusterRole, or exclude them. no status subresource: status updates go through the main resource; informer-exporter check names the resources."},
	queries: []query{
		{expr: `max by (@cluster, @instance, state) (informer_exporter_kinds{@target})`, legend: "{{@cluster}} {{@instance}} {{state}}"},
		{expr: `count by (@cluster, @instance) (informer_exporter_kind_without_status_subresource{@target}) or 0 * max by (@cluster, @instance) (informer_exporter_kinds{@target})`, legend: "{{@cluster}} {{@instance}} no status subresource"},
	},
}

var discoveries = timeSeries{header: header{id: 77, title: "Discovery by result", unit: "short",
	description: "Discovery requests of the exporter. Normally complete, one every five minutes and a few per change to a CustomResourceDefinition. partial: an aggregated API server is down. error: no response."},
	stacked: true, queries: []query{{expr: occurrences(`informer_exporter_discoveries_total{@target}`, `@cluster, @instance, result`), legend: "{{@cluster}} {{@instance}} {{result}}"}},
}

var shards = timeSeries{header: header{id: 79, title: "Missing shards", unit: "short",
	description: "Configured shards that no running exporter reports. Resources of a missing shard are not watched. Normally 0; always 0 for a single exporter. A peak while the number of shards changes is normal."},
	queries: []query{{expr: `max by (@cluster, @job) (informer_exporter_shards{@target}) - count by (@cluster, @job) (group by (@cluster, @job, shard) (informer_exporter_shards{@target}))`, legend: "{{@cluster}} {{@job}}"}},
}

var stateMetrics = timeSeries{header: header{id: 75, title: "Objects that kube-state-metrics has or lacks", unit: "short", empty: normallyEmpty,
	description: "Objects in kube-state-metrics minus those in the cache of the exporter, for resources that both watch. Normally 0, for moments a few. A lasting difference: kube-state-metrics is behind, selects namespaces, or lacks a shard."},
	queries: []query{
		{expr: `count by (@cluster) (kube_pod_info{@server}) - on (@cluster) max by (@cluster) (k8s_informer_objects{@target, informer_type="pods", watch_namespace="*"})`, legend: "{{@cluster}} pods"},
		{expr: `count by (@cluster) (kube_deployment_spec_replicas{@server}) - on (@cluster) max by (@cluster) (k8s_informer_objects{@target, informer_type="deployments.apps", watch_namespace="*"})`, legend: "{{@cluster}} deployments"},
	},
}
