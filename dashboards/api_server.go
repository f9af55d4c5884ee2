package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// The API server's side of informers, with or without the library. It is scraped as a job of its own, so only the cluster
// variable applies.
var apiServer = row{id: 500, title: "API server (cluster variable only)", collapsed: true, lines: []line{
	{height: 9, panels: []panel{openWatches, terminatedWatchers, streamingLists}},
	{height: 9, panels: []panel{cacheInitializations, consistencyChecks, flowRejections}},
	{height: 9, panels: []panel{eventDispatch, cacheFallbacks, cacheWaits, watchCacheAge}},
}}

const legendServer = "{{@cluster}} {{group}} {{resource}}"

var openWatches = timeSeries{header: header{id: 50, title: "Open watches by resource", unit: "short",
	description: "Watches that the API servers serve. The normal number depends on the programs and nodes. A drop to 0 and back is a restart of an API server: all informers reconnect together."},
	top: true, queries: []query{{expr: `sum by (@cluster, group, resource) (apiserver_longrunning_requests{@server, verb="WATCH"})`, legend: legendServer}},
}

var terminatedWatchers = timeSeries{header: header{id: 51, title: "Watches terminated in 15 minutes", unit: "short", empty: normallyEmpty,
	description: "Watches that an API server closed in the previous 15 minutes because the client did not read its events. Normally none. The client reconnects, and relists if it is too far behind: look for a program that is short of CPU, or has a slow transform or decoder."},
	queries: []query{{expr: sumOf(`apiserver_terminated_watchers_total{@server}`, `@watchers_terminated`, `@cluster, group, resource`), legend: legendServer}},
	goal:    &catalog.Objectives.WatchersTerminated,
}

var streamingLists = timeSeries{header: header{id: 52, title: "Streaming list duration p99", unit: "s", empty: normallyEmpty,
	description: "99th percentile of the time the API server takes to send the initial events of a streaming list, by resource. Normally below a second; no data without lists. A rise delays the start of controllers: large resources, a slow client, or an overloaded server."},
	top: true, queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, group, resource) (rate(apiserver_watch_list_duration_seconds@bucket{@server}[$__rate_interval]))) >= 0`, legend: legendServer}},
}

var cacheInitializations = timeSeries{header: header{id: 53, title: "Watch cache initializations", unit: "short",
	description: "Watch caches that an API server filled from etcd. Normally one per resource at its start. A later one ends every watch of the resource, and its informers relist: etcd was compacted or unreachable, or the server fell behind."},
	stacked: true, queries: []query{{expr: occurrences(`apiserver_watch_cache_initializations_total{@server}`, `@cluster, group, resource`), legend: legendServer}},
}

var consistencyChecks = timeSeries{header: header{id: 54, title: "Consistency checks by status", unit: "short",
	description: "Comparisons of watch caches with etcd over the previous 15 minutes. Normally success only, one per resource every five minutes. failure: informers may have received objects that are inconsistent with etcd. No data before Kubernetes 1.34 and in the first minutes after a server starts."},
	queries: []query{{expr: sumOf(`apiserver_storage_consistency_checks_total{@server}`, `@watch_cache_inconsistent`, `@cluster, status`), legend: "{{@cluster}} {{status}}"}},
}

var flowRejections = timeSeries{header: header{id: 55, title: "Requests rejected by flow schema", unit: "short", empty: normallyEmpty,
	description: "Requests that API priority and fairness rejected with 429, by flow schema and reason. Normally none. The flow schema shows where they come from: give a busy program its own, or send fewer requests."},
	stacked: true, queries: []query{{expr: occurrences(`apiserver_flowcontrol_rejected_requests_total{@server}`, `@cluster, flow_schema, reason`), legend: "{{@cluster}} {{flow_schema}} {{reason}}"}},
}

var eventDispatch = timeSeries{header: header{id: 56, title: "Dispatch of watch events p99", unit: "s", empty: normallyEmpty,
	description: "99th percentile of the time from the arrival of an event from etcd until it is written to a watch, by stage. Normally milliseconds. storage_to_cache: the API server is short of CPU. cache_to_watcher: a client reads too slowly. No data before Kubernetes 1.37."},
	queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, stage) (rate(apiserver_watch_events_dispatch_duration_seconds@bucket{@server}[$__rate_interval]))) >= 0`, legend: "{{@cluster}} {{stage}}"}},
	goal:    &catalog.Objectives.WatchEventsSlow,
}

var cacheFallbacks = timeSeries{header: header{id: 57, title: "Consistent lists served by etcd", unit: "percentunit", empty: normallyEmpty,
	description: "Share of consistent lists for which the watch cache did not reach etcd's version within 3 s, by resource. Normally 0. A rise: etcd or its network is slow, or does not feed the cache, and watches are late as well."},
	top: true, queries: []query{{expr: `sum by (@cluster, group, resource) (rate(apiserver_watch_cache_consistent_read_total{@server, fallback="true"}[$__rate_interval])) / (sum by (@cluster, group, resource) (rate(apiserver_watch_cache_consistent_read_total{@server}[$__rate_interval])) > 0)`, legend: legendServer}},
	goal: &catalog.Objectives.WatchCacheLate,
}

var cacheWaits = timeSeries{header: header{id: 58, title: "Waits for the watch cache p99", unit: "s", empty: normallyEmpty,
	description: "99th percentile of the time that reads wait until the watch cache is fresh, by resource. Normally below 0.1 s, which etcd takes to report its progress. No data without such reads."},
	top: true, queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, group, resource) (rate(apiserver_watch_cache_read_wait_seconds@bucket{@server}[$__rate_interval]))) >= 0`, legend: legendServer}},
}

var watchCacheAge = timeSeries{header: header{id: 59, title: "Stale watch cache", unit: age,
	description: "How long the API server that the exporter is connected to has lacked a version that etcd has. Normally 0. A rise of one second per second: etcd does not feed the API server, and all of its watches are silent."},
	queries: []query{{expr: `max by (@cluster, @instance) (informer_exporter_watch_cache_stale_seconds{@target})`, legend: legendExporter}},
	goal:    &catalog.Objectives.WatchCacheFrozen,
}
