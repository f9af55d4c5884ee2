package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var informerWatchDown = Alert{
	Name:      "InformerWatchDown",
	Objective: catalog.WatchDown,
	labels:    ofProcess,
	// Before the first full state there is no watch to lose; InformerNotSynced covers that time.
	expr: `
k8s_informer_watch_connected{@} == 0
and
k8s_informer_synced{@} == 1
`,
	summary: someInformer + " has lost its watch.",
	description: someInformer + " on {{ $labels.@instance }} has been without a watch for more than $for. " +
		"Its cache no longer changes.",
	Runbook: Runbook{
		Meaning: "The informer has a full state but no open watch, for longer than $for. A planned end of a watch is followed by the next one within milliseconds; after an error client-go waits up to 30 s, twice that with jitter, between attempts.",
		Impact:  "The cache is frozen at the moment that the watch was lost. Controllers act on old state and see no changes.",
		Diagnosis: []Step{
			{"How did the last watches end?", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_watch_disconnects_total{@}[15m])) > 0`},
			{"What errors do new attempts meet?", `sum by (@cluster, name, informer_type, error_type) (increase(k8s_informer_sync_errors_total{@}[15m])) > 0`},
			{"Is it one instance, one resource, or everything?", `count by (@cluster, @instance) (k8s_informer_watch_connected{@} == 0)`},
		},
		Mitigation: []string{
			"All resources of one instance: its node's network, its token, a network policy.",
			"All instances: the API server or what stands before it (load balancer, proxy).",
			"One resource: its CustomResourceDefinition was removed or its conversion webhook fails; or the permission `watch` was taken away.",
			"It mends itself once the server answers; a restart is not needed and costs a full list.",
		},
	},
}

var informerWatchDisconnects = Alert{
	Name:      "InformerWatchDisconnects",
	Objective: catalog.WatchDisconnects,
	labels:    ofProcess,
	// Per informer and never summed over them: 150 healthy informers have 20 planned ends a minute, which is why planned
	// ends have a counter of their own.
	expr:    `60 * sum without (reason) (rate(k8s_informer_watch_disconnects_total{@}[$window])) > $threshold`,
	summary: someInformer + " keeps losing its watch.",
	description: someInformer + ` on {{ $labels.@instance }} loses its watch {{ $value | printf "%.1f" }} times a minute; ` +
		"the objective is at most $objective. Planned ends are not counted.",
	Runbook: Runbook{
		Meaning: "Watches of one informer end before their time, or cannot be opened, more than $objective for $for, measured over $window. The server's planned ends after 5 to 10 minutes are not among them.",
		Impact:  "Every new watch costs a request and possibly a full list; between watches the cache stands still. Many informers doing this at once load the API server.",
		Diagnosis: []Step{
			{"By what reason? `server_close`: something between client and server closes streams, such as a proxy's idle timeout. `very_short`: the server accepts and closes at once. `expired`: resourceVersions are compacted away. `throttled`: API priority and fairness. `refused`: nothing listens.", `sum by (@cluster, name, informer_type, reason) (60 * rate(k8s_informer_watch_disconnects_total{@}[5m])) > 0`},
			{"How long do watches last? Equal durations point at a timeout of a proxy or load balancer.", `histogram_quantile(0.5, sum by (le, @cluster, name, informer_type) (rate(k8s_informer_watch_duration_seconds_bucket{@}[15m])))`},
			{"Do they lead to full lists?", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_relists_total{@}[15m])) > 0`},
		},
		Mitigation: []string{
			"Raise the idle timeout of load balancers and proxies above 10 minutes, or let HTTP/2 pings through.",
			"`expired`: look at etcd's compaction interval and at how long clients are disconnected; enable bookmarks if they are off.",
			"`throttled`: a flow schema of its own for the program.",
		},
	},
}

var informerCoverageGap = Alert{
	Name:      "InformerCoverageGap",
	Objective: catalog.CoverageGap,
	labels:    ofInformer,
	// One gap must be too long for certain: counters that begin at 0 are not extrapolated as others are, and so much of an old
	// gap would seem to be in the window that the quantile of the few others reaches its bucket.
	expr: `
histogram_quantile($quantile, sum by (le, @cluster, @job, name, informer_type, watch_namespace) (increase(k8s_informer_coverage_gap_seconds_bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @job, name, informer_type, watch_namespace) (increase(k8s_informer_coverage_gap_seconds_bucket{@, le="+Inf"}[$window]))
-
sum by (@cluster, @job, name, informer_type, watch_namespace) (increase(k8s_informer_coverage_gap_seconds_bucket{@, $bound}[$window]))
> 0.5
`,
	summary: someInformer + " was without a watch for too long.",
	description: someInformer + " was without a watch for up to {{ $value | humanizeDuration }} at a time during the last $window; " +
		"the objective is $objective.",
	Runbook: Runbook{
		Meaning: "From the end of a watch to the moment that its successor was up to date, more than $objective passed, at the 99th percentile over $window. With the few reconnections that an informer makes in that time, this is about the longest gap.",
		Impact:  "Changes during a gap arrive late and all at once. Nothing is lost: the next watch or list brings the state.",
		Diagnosis: []Step{
			{"What ended the watches?", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_watch_disconnects_total{@}[30m])) > 0`},
			{"Were full lists needed to come back? Those take longest.", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_relists_total{@, reason!="initial"}[30m])) > 0`},
			{"Or do planned ends alone show gaps? Then opening a watch is slow: client-side rate limits, a slow load balancer, TLS.", `sum by (@cluster, name, informer_type) (increase(k8s_informer_watch_timeouts_total{@}[30m]))`},
		},
		Mitigation: []string{
			"A restart or upgrade of the API server explains a single gap; nothing is to be done.",
			"Frequent `expired`: see InformerWatchDisconnects.",
			"Gaps at planned ends: raise `QPS` and `Burst` of the `rest.Config`, so that watches do not wait behind other requests.",
		},
	},
}
