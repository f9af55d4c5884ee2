package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// Signals of stale caches that programs without the library have: client-go's since 1.36, controller-runtime's and
// kube-controller-manager's.
var staleCaches = row{id: 600, title: "Caches of programs without the library", collapsed: true, lines: []line{
	{height: 9, panels: []panel{cacheAges, informerQueue, skippedSyncs}},
	{height: 9, panels: []panel{consistencyWaits, reconcileTimeouts}},
}}

var cacheAges = timeSeries{header: header{id: 60, title: "Age of caches", unit: "s", empty: normallyEmpty,
	description: "How old a cache is at least, by its resource version: 0 (less than 90 s), 90, 120, 180, 300 or 600 s. Normally 0. No data without client-go 1.36's metrics, and for resources that neither the exporter nor another program with the library watches."},
	top: true, queries: []query{{expr: `max by (@cluster, @job, name, group, resource) (instance:informer_store_resource_version:age_seconds{` + targetMatchers + `})`, legend: legendUpstream}},
	goal: &catalog.Objectives.CacheBehind,
}

var informerQueue = timeSeries{header: header{id: 61, title: "Items between watch and cache", unit: "short", empty: normallyEmpty,
	description: "Events that client-go has received and not yet stored. Normally near 0, with peaks at relists. A high level means a stale cache: the process is short of CPU, or a transform or an index function is slow."},
	top: true, queries: []query{{expr: `max by (@cluster, @job, name, group, resource) (informer_queued_items{@target})`, legend: legendUpstream}},
	goal: &catalog.Objectives.InformerQueue,
}

// One query for each controller of kube-controller-manager.
var skippedSyncs = timeSeries{header: header{id: 62, title: "Syncs skipped because of a stale cache", unit: "short", empty: normallyEmpty,
	description: "Syncs per minute that kube-controller-manager skipped, because a cache was older than the controller's own last write, by stale resource. Normally 0, with single ones on a busy cluster. The controller syncs again with backoff: a steady rate delays all of its objects."},
	queries: []query{
		skipped("daemonset"), skipped("horizontal_pod_autoscaler"), skipped("job"), skipped("replicaset"), skipped("statefulset"),
	},
}

func skipped(controller string) query {
	return query{
		expr:   `60 * sum by (@cluster, group, resource) (rate(` + controller + `_controller_stale_sync_skips_total{@target}[$__rate_interval]))`,
		legend: "{{@cluster}} " + controller + ": {{group}} {{resource}}",
	}
}

var consistencyWaits = timeSeries{header: header{id: 63, title: "Reads that wait for own writes, by result", unit: "short", empty: normallyEmpty,
	description: "Reads that waited until the cache had the program's own writes, with controller-runtime's read-your-writes consistency. Normally success only. timeout: the cache is behind by more than the timeout, and the reconcile fails."},
	stacked: true, queries: []query{{expr: occurrences(`controller_runtime_client_consistency_wait_duration_seconds@count{@target}`, `@cluster, @job, operation, result`), legend: "{{@cluster}} {{@job}} {{operation}} {{result}}"}},
}

var reconcileTimeouts = timeSeries{header: header{id: 64, title: "Reconciles that timed out", unit: "short", empty: normallyEmpty,
	description: "Reconciles that exceeded the timeout of their controller. Normally none. Each is retried: a slow API server or webhook, or a cache that is waited for."},
	stacked: true, queries: []query{{expr: occurrences(`controller_runtime_reconcile_timeouts_total{@target}`, `@cluster, @job, controller`), legend: "{{@cluster}} {{@job}} {{controller}}"}},
}

const legendUpstream = "{{@cluster}} {{@job}} {{name}} {{group}} {{resource}}"
