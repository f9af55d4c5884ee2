package dashboards

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// processLabels identify an informer of a process.
const processLabels = informerLabels + ", @instance"

// oldWatch is the age in seconds above which a watch should have ended: client-go requests at most 10 minutes.
const oldWatch = 630

func watchTimeline() panel {
	return timeline{header: header{id: 38, title: "Watch interruptions", unit: "short",
		description: "When informers had no open watch: the ten with the longest interruptions in the selected time, one band per process. Normally empty; short reconnects fall between two scrapes."},
		query: query{expr: `min by (` + processLabels + `) (k8s_informer_watch_connected{@informer}) and topk(10, 1 - min by (` + processLabels + `) (avg_over_time(k8s_informer_watch_connected{@informer}[$__range] @ end())) > 0)`, legend: "{{@instance}} " + legendInformer},
		no:    "down", yes: "up", noColor: red,
	}
}

// disconnects returns the disconnects of each informer of a process in the window of their objective.
func disconnects(selector string) string {
	return `sum without (reason) (` + prom.Occurred(`k8s_informer_watch_disconnects_total{`+selector+`}`, `@watch_disconnects`) + `)`
}

// perMinute returns the highest number per minute, by the given labels.
func perMinute(inWindow, by string) string {
	return `60 * max by (` + by + `) (` + inWindow + `) / @watch_disconnects_seconds`
}

func disconnectReasons() panel {
	return timeSeries{header: header{id: 32, title: "Watch disconnects by reason", unit: "short",
		description: "Why watches ended early. Normally none. server_close: closed by the server, a proxy or a load balancer. expired: compacted in etcd. throttled: API priority and fairness. refused: no connection (nothing listens, DNS, or no route). very_short: closed immediately. error: see the log."},
		stacked: true, queries: []query{{expr: occurrences(`k8s_informer_watch_disconnects_total{@informer}`, `@cluster, name, reason`), legend: "{{@cluster}} {{name}} {{reason}}"}},
	}
}

func coverageGap(t catalog.Targets) panel {
	o := t.Of(catalog.Objectives.CoverageGap)
	return timeSeries{header: header{id: 33, title: "Long coverage gaps", unit: "short",
		description: "Reconnects that took more than " + o.Amount() + ". Normally 0, even when idle. Long gaps after planned timeouts indicate client-side rate limits or a slow load balancer."},
		top: true, queries: []query{{expr: countAbove("k8s_informer_coverage_gap_seconds", "@informer", o.Threshold, informerLabels), legend: legendInformer}},
	}
}

func eventsByType() panel {
	return timeSeries{header: header{id: 36, title: "Events received per minute by type", unit: "short",
		description: "Watch events of the busiest process. The normal rate depends on the cluster; bookmarks arrive about once a minute per watch. A rise explains higher lag and CPU usage: find the writer. error: the server ended the watch with an error."},
		top: true, queries: []query{{expr: `60 * sum by (@cluster, name, type) (max by (@cluster, name, informer_type, watch_namespace, type) (rate(k8s_informer_watch_events_total{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} {{type}}"}},
	}
}

func watchTable(t catalog.Targets) panel {
	disconnect := t.Of(catalog.Objectives.WatchDisconnects)
	return labelTable{header: header{id: 34, title: "Watches in the selected time", unit: "short",
		description: "One row per informer, over all processes. Each informer opens a watch every 5 to 10 minutes, after the planned timeout of the previous one. More opened than timed out means disconnects. A constant mean below 5 minutes indicates the timeout of a proxy or load balancer. A watch older than 10.5 minutes was requested without a timeout, or its end was lost."},
		labels: informerColumns(),
		columns: []column{
			{title: "Disconnects/min", red: disconnect.Threshold, query: perMinute(disconnects("@informer"), informerLabels)},
			{title: "Opened", query: sumOf(`k8s_informer_watches_total{@informer}`, `$__range`, informerLabels)},
			{title: "Timed out", query: sumOf(`k8s_informer_watch_timeouts_total{@informer}`, `$__range`, informerLabels)},
			{title: "Mean duration", unit: age, query: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_watch_duration_seconds_sum{@informer}[$__range])) / (sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_watch_duration_seconds_count{@informer}[$__range])) > 0)`},
			{title: "Consecutive failures", red: 3, query: `max by (` + informerLabels + `) (k8s_informer_consecutive_failures{@informer}) or 0 * max by (` + informerLabels + `) (k8s_informer_watch_connected{@informer})`},
			{title: "Oldest watch", unit: age, red: oldWatch, query: `max by (` + informerLabels + `) (time() - k8s_informer_watch_opened_timestamp_seconds{@informer})`},
			{title: "Last event", unit: "dateTimeFromNow", query: `1000 * min by (` + informerLabels + `) (k8s_informer_last_event_timestamp_seconds{@informer} > 0)`},
		},
		sortBy: []string{"Disconnects/min", "Opened"},
	}
}
