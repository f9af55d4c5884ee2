package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// yesNo names the values of metrics that are 0 or 1.
var yesNo = map[string]string{"0": "no", "1": "yes"}

func notSynced() panel {
	return singleStat{header: header{id: 1, title: "Not synced", unit: "short",
		description: "Informers that have not completed their initial sync, over all processes. Normally 0, except for seconds after a start. See the informer table and the list and watch errors."},
		red: 1, query: `sum(k8s_informer_synced{@informer} == bool 0)`,
	}
}

func watchesDown() panel {
	return singleStat{header: header{id: 2, title: "Watches down", unit: "short",
		description: "Informers without an open watch, over all processes; their caches are stale. Normally 0. See the watch disconnects by reason."},
		red: 1, query: `sum(k8s_informer_watch_connected{@informer} == bool 0)`,
	}
}

func worstSyncLag(t catalog.Targets) panel {
	return singleStat{header: header{id: 3, title: "Sync lag", unit: age,
		description: "How far the worst informer is behind the API server. Normally 0."},
		query: `max(k8s_informer_sync_lag_seconds{@informer})`,
		goal:  new(t.Of(catalog.Objectives.SyncLag)),
	}
}

func lateEvents(t catalog.Targets) panel {
	o := t.Of(catalog.Objectives.EventLag)
	return singleStat{header: header{id: 5, title: "Late events", unit: "percentunit",
		description: "Share of events handled more than " + o.Amount() + " after they were received, for the worst informer. Normally 0. The objective allows " + o.Budget() + " per month."},
		idle: "idle", query: `max(` + shareAbove("k8s_informer_event_lag_seconds", "@informer", informerLabels, o) + `)`,
		red: o.Allowed(),
	}
}

func listWatchErrors(t catalog.Targets) panel {
	// The reciprocal reads each counter once. It is NaN without attempts, and 0 if all of them succeed.
	successes := `sum by (` + programLabels + `) (label_replace(` + occurrences(`k8s_informer_watches_total{@informer}`, programLabels) + `, "of", "watches", "", "") or ` +
		occurrences(`k8s_informer_list_duration_seconds_count{@informer}`, programLabels) + `)`
	return singleStat{header: header{id: 6, title: "List/watch errors", unit: "percentunit",
		description: "Share of list and watch attempts that fail, for the worst program. Normally 0, with a short peak after a lost connection."},
		idle: "idle", query: `max(1 / (1 + ` + successes + ` / ` + occurrences(`k8s_informer_sync_errors_total{@informer}`, programLabels) + `)) or 0 * max(k8s_informer_watch_connected{@informer} == 1)`,
		goal: new(t.Of(catalog.Objectives.ListWatchErrors)),
	}
}

func informerTable(t catalog.Targets) panel {
	lag, disconnect := t.Of(catalog.Objectives.SyncLag), t.Of(catalog.Objectives.WatchDisconnects)
	return labelTable{header: header{id: 9, title: "Informers by sync lag", unit: "short",
		description: "One row per informer and process. Normally synced, connected and without lag. Red cells miss an objective."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "informer_type", title: "Resource", link: &link{uid: DetailUID, title: "Only this informer", sets: []string{"cluster", "name", "informer_type", "watch_namespace", "instance"}}},
			{label: "watch_namespace", title: "Namespace", narrow: true}, {label: "instance", title: "Instance"},
		},
		columns: []column{
			{title: "Sync lag", unit: age, red: lag.Threshold, query: `max by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_sync_lag_seconds{@informer})`},
			{title: "Degraded", red: .5, names: yesNo, query: `max by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_degraded{@informer})`},
			{title: "Synced", below: true, red: 1, names: yesNo, query: `min by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_synced{@informer})`},
			{title: "Watch", below: true, red: 1, names: map[string]string{"0": "down", "1": "up"}, query: `min by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_watch_connected{@informer})`},
			{title: "Disconnects/min", unit: "short", red: disconnect.Threshold, query: perMinute(disconnects("@informer"), processLabels)},
			{title: "Pending events", query: `max by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_handler_pending_events{@informer})`},
			{title: "Objects", query: `sum by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_objects{@informer})`},
			{title: "Last event", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_last_event_timestamp_seconds{@informer} > 0)`},
		},
		sortBy: []string{"Sync lag", "Objects"},
	}
}
