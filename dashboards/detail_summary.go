package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// yesNo names the values of metrics that are 0 or 1.
var yesNo = map[string]string{"0": "no", "1": "yes"}

// Functions with a selector take its placeholder, "@program" or "@informer".
func notSynced(selector string) panel {
	return singleStat{
		header: header{id: 1, title: "Not synced", unit: "short",
			description: "Informers whose initial sync is not complete, over all processes. Normally 0, except for seconds after a start. See the informer table and the list and watch errors."},
		query: `sum(k8s_informer_synced{` + selector + `} == bool 0)`,
		red:   1,
	}
}

func watchesDown(selector string) panel {
	return singleStat{
		header: header{id: 2, title: "Watches down", unit: "short",
			description: "Informers without an open watch, over all processes; their caches are stale. Normally 0. See the watch disconnects by reason."},
		query: `sum(k8s_informer_watch_connected{` + selector + `} == bool 0)`,
		red:   1,
	}
}

func worstSyncLag(t catalog.Targets, selector string) panel {
	return singleStat{
		header: header{id: 3, title: "Sync lag", unit: "s",
			description: "How far the worst informer is behind the API server. Normally 0."},
		query: `max(k8s_informer_sync_lag_seconds{` + selector + `})`,
		goal:  new(t.Of(catalog.Objectives.SyncLag)),
	}
}

func worstDisconnects(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 4, title: "Watch disconnects", unit: "cpm",
			description: "Watch disconnects per minute of the worst informer, excluding planned timeouts. Normally 0."},
		query: `max(60 * sum without (reason) (rate(k8s_informer_watch_disconnects_total{@informer}[$__rate_interval])))`,
		goal:  new(t.Of(catalog.Objectives.WatchDisconnects)),
	}
}

func lateEvents(t catalog.Targets) panel {
	o := t.Of(catalog.Objectives.EventLag)
	return singleStat{
		header: header{id: 5, title: "Late events", unit: "percentunit",
			description: "Share of events handled more than " + o.Amount() + " after they were received, for the worst informer. Normally 0; 0 when idle. The objective allows " + o.Budget() + " per month."},
		query: `max((sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_count{@informer}[$__rate_interval])) - sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_bucket{@informer, ` + bucket(o) + `}[$__rate_interval]))) / clamp_min(sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_count{@informer}[$__rate_interval])), 1e-9))`,
		red:   o.Allowed(),
	}
}

func listWatchErrors(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 6, title: "List/watch error rate", unit: "percentunit",
			description: "Share of list and watch attempts that fail, for the worst program. Normally 0, with a short peak after a lost connection."},
		query: `max(sum by (@cluster, name) (rate(k8s_informer_sync_errors_total{@informer}[$__rate_interval])) / clamp_min(sum by (@cluster, name) (rate(k8s_informer_sync_errors_total{@informer}[$__rate_interval])) + sum by (@cluster, name) (rate(k8s_informer_watches_total{@informer}[$__rate_interval])) + sum by (@cluster, name) (rate(k8s_informer_list_duration_seconds_count{@informer}[$__rate_interval])), 1e-9))`,
		goal:  new(t.Of(catalog.Objectives.ListWatchErrors)),
	}
}

func slowestHandler(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 7, title: "Handler duration p99", unit: "s",
			description: "99th percentile of the time per event, for the slowest handler. Normally below a millisecond for handlers that only enqueue a key."},
		query: `max(histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@informer}[$__rate_interval]))))`,
		goal:  new(t.Of(catalog.Objectives.HandlerDuration)),
		idle:  "idle",
	}
}

func inconsistentCaches(selector string) panel {
	return singleStat{
		header: header{id: 8, title: "Cache inconsistencies", unit: "short",
			description: "Objects inconsistent with the API server, confirmed by two consecutive audits. Normally 0. No data: audits are off, which is the library's default. See the runbook of InformerCacheDiffers."},
		query: `sum(max by (@cluster, name, informer_type, watch_namespace, kind) (k8s_informer_audit_differences{` + selector + `}))`,
		red:   1,
	}
}

func informerTable(t catalog.Targets) panel {
	lag, disconnect := t.Of(catalog.Objectives.SyncLag), t.Of(catalog.Objectives.WatchDisconnects)
	return labelTable{
		header: header{id: 9, title: "Informers by sync lag", unit: "short",
			description: "One row per informer and process. Normally synced, connected and without lag. Red cells miss an objective."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "informer_type", title: "Resource"},
			{label: "watch_namespace", title: "Namespace", narrow: true}, {label: "instance", title: "Instance"},
		},
		columns: []column{
			{title: "Sync lag", unit: "s", red: lag.Threshold, query: `max by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_sync_lag_seconds{@informer})`},
			{title: "Synced", below: true, red: 1, names: yesNo, query: `min by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_synced{@informer})`},
			{title: "Watch", below: true, red: 1, names: map[string]string{"0": "down", "1": "up"}, query: `min by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_watch_connected{@informer})`},
			{title: "Disconnects", unit: "cpm", red: disconnect.Threshold, query: `60 * sum by (@cluster, name, informer_type, watch_namespace, @instance) (rate(k8s_informer_watch_disconnects_total{@informer}[$__rate_interval]))`},
			{title: "Pending events", query: `max by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_handler_pending_events{@informer})`},
			{title: "Objects", query: `sum by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_objects{@informer})`},
			{title: "Last event", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_last_event_timestamp_seconds{@informer} > 0)`},
		},
		sortBy: "Sync lag",
	}
}
