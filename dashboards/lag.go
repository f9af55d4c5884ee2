package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// budget returns the share of events that may miss an objective, as an objective for the line in a graph of that share.
func budget(o catalog.Objective) *catalog.Objective {
	return &catalog.Objective{Threshold: o.Allowed(), Unit: "percentunit"}
}

// informerLabels identify an informer of a program.
const informerLabels = "@cluster, name, informer_type, watch_namespace"

func syncLag(t catalog.Targets) panel {
	const process = `@cluster, @namespace, @job, @instance, name`
	return timeSeries{header: header{id: 20, title: "Sync lag", unit: age,
		description: "How far each informer is behind the API server. Normally 0, even when idle. A rise of one second per second means that the watch is down or half-open: see the freshness checks. Otherwise a handler blocks events: see the pending events. Skew: difference between the highest and lowest sync lag within a process, over the selected informers, for the worst process in each program. A controller that reads two caches may then see an older state in one of them."},
		queries: []query{
			{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_sync_lag_seconds{@informer})`, legend: legendInformer},
			{expr: `max by (@cluster, name) (max by (` + process + `) (k8s_informer_sync_lag_seconds{@informer}) - min by (` + process + `) (k8s_informer_sync_lag_seconds{@informer}))`, legend: legendProgram + " skew"},
		},
		top: true, goal: new(t.Of(catalog.Objectives.SyncLag)),
	}
}

func eventLag(t catalog.Targets) panel {
	return timeSeries{header: header{id: 21, title: "Event lag p99", unit: "s",
		description: "99th percentile of the time from receiving an event to the handler's return. Normally milliseconds. If it rises, compare with the handler duration and the event rate."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds@bucket{@informer}[$__rate_interval])))`, legend: legendInformer, traced: true}},
		top:     true, goal: new(t.Of(catalog.Objectives.EventLag)),
	}
}

func lateEventShare(t catalog.Targets) panel {
	o := t.Of(catalog.Objectives.EventLag)
	return timeSeries{header: header{id: 22, title: "Late events", unit: "percentunit",
		description: "Share of events handled more than " + o.Amount() + " after they were received. Above the line, the monthly error budget runs out early; the alerts use windows from 5m to 3d."},
		queries: []query{{expr: shareAbove("k8s_informer_event_lag_seconds", "@informer", informerLabels, o), legend: legendInformer}},
		goal:    budget(o), top: true,
	}
}

func propagation() panel {
	return timeSeries{header: header{id: 24, title: "Mean propagation delay", unit: "s",
		description: "Mean time from an object's write, as recorded in managedFields in whole seconds, to the receipt of its event. Normally up to 1 s. More means a slow API server or network, or clock skew. After a coverage gap, it includes the gap."},
		top: true, queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_propagation_seconds_sum{@informer}[$__rate_interval])) / (sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_propagation_seconds_count{@informer}[$__rate_interval])) > 0)`, legend: legendInformer}},
	}
}

func freshnessChecks() panel {
	return timeSeries{header: header{id: 25, title: "Freshness checks by result", unit: "short", empty: notChecked,
		description: "Checks that compare the cache with a second, short watch, one informer at a time. Normally fresh. lagging: the informer misses events that the API server sends. error: the API server does not respond in time. skipped: the watch is down, or the API server no longer has the version of the cache. Not checked: the checks are off, the library's default."},
		stacked: true, queries: []query{{expr: occurrences(`k8s_informer_freshness_checks_total{@informer}`, `@cluster, name, result`), legend: "{{@cluster}} {{name}} {{result}}"}},
	}
}
