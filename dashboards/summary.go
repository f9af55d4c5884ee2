package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// yesNo replaces the values of what is so or not.
var yesNo = map[string]string{"0": "no", "1": "yes"}

// notSynced and the next ones are of the series that of selects.
func notSynced(of string) panel {
	return single{
		header: header{id: 1, title: "Not synced", unit: "short",
			about: "Informers without a first full state, in all processes. Normal is 0, except for the seconds after a start. Otherwise see which below, and the list and watch errors."},
		query: `sum(k8s_informer_synced{` + of + `} == bool 0)`,
		red:   1,
	}
}

func watchesDown(of string) panel {
	return single{
		header: header{id: 2, title: "Watches down", unit: "short",
			about: "Informers without an open watch, in all processes; their caches stand still. Normal is 0. Otherwise see how the watches ended."},
		query: `sum(k8s_informer_watch_connected{` + of + `} == bool 0)`,
		red:   1,
	}
}

func worstSyncLag(t catalog.Targets, of string) panel {
	o := t.Of(catalog.SyncLag)
	return single{
		header: header{id: 3, title: "Worst lag", unit: "s",
			about: "How far the informer that is furthest behind trails the API server. Normal is 0. The objective is " + o.Goal() + "."},
		query: `max(k8s_informer_sync_lag_seconds{` + of + `})`,
		red:   o.Threshold,
	}
}

func worstDisconnects(t catalog.Targets) panel {
	o := t.Of(catalog.WatchDisconnects)
	return single{
		header: header{id: 4, title: "Disconnects", unit: "cpm",
			about: "Watches that the worst informer loses in a minute, planned ends left out. Normal is 0. The objective is " + o.Goal() + " for each informer."},
		query: `max(60 * sum without (reason) (rate(k8s_informer_watch_disconnects_total{@informer}[$__rate_interval])))`,
		red:   o.Threshold,
	}
}

func lateEvents(t catalog.Targets) panel {
	o := t.Of(catalog.EventLag)
	return single{
		header: header{id: 5, title: "Late events", unit: "percentunit",
			about: "Share of the events that took longer than " + o.Amount() + " from their receipt to the return of the handler, of the informer with most of them. Normal is 0, also when nothing happens. The objective allows " + o.Budget() + " over a month."},
		query: `max((sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_count{@informer}[$__rate_interval])) - sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_bucket{@informer, ` + bucket(o) + `}[$__rate_interval]))) / clamp_min(sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_count{@informer}[$__rate_interval])), 1e-9))`,
		red:   o.Allowed(),
	}
}

func failedAttempts(t catalog.Targets) panel {
	o := t.Of(catalog.ListWatchErrors)
	return single{
		header: header{id: 6, title: "Failed attempts", unit: "percentunit",
			about: "Share of list and watch attempts that fail, of the program that fails most. Normal is 0; a lost connection shows for a moment. The objective is " + o.Goal() + "."},
		query: `max(sum by (@cluster, name) (rate(k8s_informer_sync_errors_total{@informer}[$__rate_interval])) / clamp_min(sum by (@cluster, name) (rate(k8s_informer_sync_errors_total{@informer}[$__rate_interval])) + sum by (@cluster, name) (rate(k8s_informer_watches_total{@informer}[$__rate_interval])) + sum by (@cluster, name) (rate(k8s_informer_list_duration_seconds_count{@informer}[$__rate_interval])), 1e-9))`,
		red:   o.Threshold,
	}
}

func slowestHandler(t catalog.Targets) panel {
	o := t.Of(catalog.HandlerDuration)
	return single{
		header: header{id: 7, title: "Handler p99", unit: "s",
			about: "99th percentile of the time for one event, of the slowest handler. Below a millisecond is normal for a handler that only queues a key. The objective is " + o.Goal() + "."},
		query: `max(histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@informer}[$__rate_interval]))))`,
		red:   o.Threshold,
		idle:  "idle",
	}
}

func cachesDiffer(of string) panel {
	return single{
		header: header{id: 8, title: "Caches differ", unit: "short",
			about: "Objects in which caches differ from the API server, as two audits in a row have found. Normal is 0; No data means that no informer is audited, as in the library by default. Otherwise follow the runbook of InformerCacheDiffers."},
		query: `sum(max by (@cluster, name, informer_type, watch_namespace, kind) (k8s_informer_audit_differences{` + of + `}))`,
		red:   1,
	}
}

func everyInformer(t catalog.Targets) panel {
	lag, disconnect := t.Of(catalog.SyncLag), t.Of(catalog.WatchDisconnects)
	return grid{
		header: header{id: 9, title: "Every informer, the furthest behind first", unit: "short",
			about: "One row for each informer of each process. Normal is a lag of 0, synced and connected. Red cells miss an objective."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "informer_type", title: "Resource"},
			{label: "watch_namespace", title: "Namespace", narrow: true}, {label: "instance", title: "Instance"},
		},
		columns: []column{
			{title: "Sync lag", unit: "s", bad: true, red: lag.Threshold, query: `max by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_sync_lag_seconds{@informer})`},
			{title: "Synced", bad: true, under: true, red: 1, words: yesNo, query: `min by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_synced{@informer})`},
			{title: "Watch", bad: true, under: true, red: 1, words: map[string]string{"0": "down", "1": "up"}, query: `min by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_watch_connected{@informer})`},
			{title: "Disconnects", unit: "cpm", bad: true, red: disconnect.Threshold, query: `60 * sum by (@cluster, name, informer_type, watch_namespace, @instance) (rate(k8s_informer_watch_disconnects_total{@informer}[$__rate_interval]))`},
			{title: "Pending", query: `max by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_handler_pending_events{@informer})`},
			{title: "Objects", query: `sum by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_objects{@informer})`},
			{title: "Last event", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_last_event_timestamp_seconds{@informer} > 0)`},
		},
		sortBy: "Sync lag",
	}
}
