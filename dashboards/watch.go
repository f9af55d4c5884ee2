package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func watchTimeline() panel {
	return timeline{
		header: header{id: 38, title: "Watches over time", unit: "short",
			about: "When the watch of each informer was open, of each process. One green band is normal; the short gap of a reconnection falls between two scrapes. Choose a program and a resource if there are too many."},
		query: query{expr: `min by (@cluster, name, informer_type, watch_namespace, @instance) (k8s_informer_watch_connected{@informer})`, legend: legendInformer + " {{@instance}}"},
		no:    "down", yes: "up",
	}
}

func withoutWatch() panel {
	return timeSeries{
		header: header{id: 30, title: "Informers without a watch", unit: "short",
			about: "Processes whose informer of a resource has no open watch. Normal is 0. All resources at once point at the API server or the network, one of them at its permissions or its CustomResourceDefinition."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (k8s_informer_watch_connected{@informer} == bool 0)`, legend: legendInformer}},
	}
}

func disconnects(t catalog.Targets) panel {
	o := t.Of(catalog.WatchDisconnects)
	return timeSeries{
		header: header{id: 31, title: "Disconnects of the worst process", unit: "cpm",
			about: "Watches of one informer that end before their time or cannot be opened, each minute. Normal is 0. Otherwise see the reasons beside it."},
		queries: []query{{expr: `60 * max by (@cluster, name, informer_type, watch_namespace) (sum without (reason) (rate(k8s_informer_watch_disconnects_total{@informer}[$__rate_interval])))`, legend: legendInformer}},
		goal:    &o,
	}
}

func disconnectReasons() panel {
	return timeSeries{
		header: header{id: 32, title: "Disconnects by reason", unit: "short",
			about: "How watches ended before their time. Normal is none. server_close: a proxy or load balancer closes streams; expired: etcd has compacted the events; throttled: API priority and fairness; refused: nothing listens; very_short: closed at once; error: see the log."},
		queries: []query{{expr: `sum by (@cluster, name, reason) (increase(k8s_informer_watch_disconnects_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{reason}}"}},
		stacked: true,
	}
}

func coverageGap(t catalog.Targets) panel {
	o := t.Of(catalog.CoverageGap)
	return timeSeries{
		header: header{id: 33, title: "Coverage gap, p99", unit: "s",
			about: "Time without a watch across reconnections. Milliseconds are normal, and no line where no watch has ended. Longer gaps after planned ends point at client-side rate limits or a slow load balancer."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, watch_namespace) (rate(k8s_informer_coverage_gap_seconds_bucket{@informer}[$__rate_interval])))`, legend: legendInformer}},
		goal:    &o,
	}
}

func watchEnds() panel {
	return timeSeries{
		header: header{id: 34, title: "Watches opened and planned ends", unit: "short",
			about: "Each informer opens a watch every 5 to 10 minutes, after the planned end of the one before. Both agree in normal times; more opened than planned ends are disconnects."},
		queries: []query{
			{expr: `sum by (@cluster, name) (increase(k8s_informer_watches_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} opened"},
			{expr: `sum by (@cluster, name) (increase(k8s_informer_watch_timeouts_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} planned ends"},
		},
	}
}

func watchDuration() panel {
	return timeSeries{
		header: header{id: 35, title: "Duration of watches, median", unit: "s",
			about: "How long the watches that ended had lasted. 5 to 10 minutes are normal. A constant lower value is somebody's idle timeout."},
		queries: []query{{expr: `histogram_quantile(0.5, sum by (le, @cluster, name) (rate(k8s_informer_watch_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}}"}},
	}
}

func eventsByType() panel {
	return timeSeries{
		header: header{id: 36, title: "Events received", unit: "ops",
			about: "Events on watches, by type, of the process that receives most. What is normal depends on the cluster; bookmarks come about once a minute for each watch. A rise explains lag and CPU: find out who writes so much. Type error is a watch that the server ended with an error."},
		queries: []query{{expr: `sum by (@cluster, name, type) (max by (@cluster, name, informer_type, watch_namespace, type) (rate(k8s_informer_watch_events_total{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} {{type}}"}},
	}
}

func sinceLastEvent() panel {
	return timeSeries{
		header: header{id: 37, title: "Time since the last event", unit: "s",
			about: "Since the last event, bookmarks included. A minute or two is normal. More is no error by itself, but on a watch that is said to be up it may be a connection that is dead without having been closed."},
		queries: []query{{expr: `time() - min by (@cluster, name, informer_type, watch_namespace) (k8s_informer_last_event_timestamp_seconds{@informer} > 0)`, legend: legendInformer}},
	}
}
