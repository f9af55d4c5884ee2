package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func watchTimeline() panel {
	return timeline{
		header: header{id: 38, title: "Watch connections", unit: "short",
			description: "When each process had an open watch. Normally one green band; short reconnects fall between two scrapes. Select a program and a resource if the list is long."},
		query: query{expr: `min by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_watch_connected{@informer})`, legend: legendInformer + " {{@instance}}"},
		no:    "down", yes: "up", noColor: red,
	}
}

func watchesDownByInformer() panel {
	return timeSeries{
		header: header{id: 30, title: "Watches down by informer", unit: "short",
			description: "Processes whose informer has no open watch. Normally 0. All resources at once: check the API server or the network. One resource: check its permissions and its CustomResourceDefinition."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (k8s_informer_watch_connected{@informer} == bool 0)`, legend: legendInformer}},
	}
}

func disconnects(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 31, title: "Watch disconnects", unit: "cpm",
			description: "Watches per minute that end early or cannot be opened, for the worst process. Normally 0. See the reasons in the next panel."},
		queries: []query{{expr: `60 * max by (@cluster, name, informer_type, watch_namespace) (sum without (reason) (rate(k8s_informer_watch_disconnects_total{@informer}[$__rate_interval])))`, legend: legendInformer}},
		goal:    new(t.Of(catalog.Objectives.WatchDisconnects)),
	}
}

func disconnectReasons() panel {
	return timeSeries{
		header: header{id: 32, title: "Watch disconnects by reason", unit: "short",
			description: "Why watches ended early. Normally none. server_close: closed by the server, a proxy or a load balancer. expired: compacted in etcd. throttled: API priority and fairness. refused: nothing listens. very_short: closed at once. error: see the log."},
		queries: []query{{expr: `sum by (@cluster, name, reason) (increase(k8s_informer_watch_disconnects_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{reason}}"}},
		stacked: true,
	}
}

func coverageGap(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 33, title: "Coverage gap p99", unit: "s",
			description: "99th percentile of the time without a watch across reconnects. Normally milliseconds; no line without reconnects. Longer gaps after planned timeouts indicate client-side rate limits or a slow load balancer."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, watch_namespace) (rate(k8s_informer_coverage_gap_seconds_bucket{@informer}[$__rate_interval])))`, legend: legendInformer}},
		goal:    new(t.Of(catalog.Objectives.CoverageGap)),
	}
}

func watchEnds() panel {
	return timeSeries{
		header: header{id: 34, title: "Watches opened and timed out", unit: "short",
			description: "Each informer opens a watch every 5 to 10 minutes, after the planned timeout of the previous one. Normally equal. More opened than timed out means disconnects."},
		queries: []query{
			{expr: `sum by (@cluster, name) (increase(k8s_informer_watches_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} opened"},
			{expr: `sum by (@cluster, name) (increase(k8s_informer_watch_timeouts_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} timed out"},
		},
	}
}

func watchDuration() panel {
	return timeSeries{
		header: header{id: 35, title: "Watch duration, median", unit: "s",
			description: "Lifetime of watches that ended. Normally 5 to 10 minutes. A constant lower value is an idle timeout of a proxy or load balancer."},
		queries: []query{{expr: `histogram_quantile(0.5, sum by (le, @cluster, name) (rate(k8s_informer_watch_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}}"}},
	}
}

func eventsByType() panel {
	return timeSeries{
		header: header{id: 36, title: "Events received by type", unit: "ops",
			description: "Watch events of the busiest process. The normal rate depends on the cluster; bookmarks arrive about once a minute per watch. A rise explains lag and CPU: find the writer. error: the server ended the watch with an error."},
		queries: []query{{expr: `sum by (@cluster, name, type) (max by (@cluster, name, informer_type, watch_namespace, type) (rate(k8s_informer_watch_events_total{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} {{type}}"}},
	}
}

func sinceLastEvent() panel {
	return timeSeries{
		header: header{id: 37, title: "Time since last event", unit: "s",
			description: "Time since the last event, including bookmarks. Normally a minute or two. More, while the watch is up, can mean a half-open connection."},
		queries: []query{{expr: `time() - min by (@cluster, name, informer_type, watch_namespace) (k8s_informer_last_event_timestamp_seconds{@informer} > 0)`, legend: legendInformer}},
	}
}
