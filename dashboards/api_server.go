package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// The API server's side of informers, with or without the library. It is scraped as a job of its own, so only the cluster
// variable applies.
var apiServer = row{id: 500, title: "API server (cluster variable only)", collapsed: true, lines: []line{
	{height: 9, panels: []panel{openWatches, terminatedWatchers, streamingLists}},
	{height: 9, panels: []panel{cacheInitializations, consistencyChecks, flowRejections}},
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
