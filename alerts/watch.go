package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var informerWatchDown = Alert{
	Name:      "InformerWatchDown",
	Objective: catalog.Objectives.WatchDown,
	labels:    ofProcess,
	// InformerNotSynced covers the time before the initial sync.
	expr: `
k8s_informer_watch_connected{@} == 0
and
k8s_informer_synced{@} == 1
`,
	summary: someInformer + " has no watch.",
	description: someInformer + " on {{ $labels.@instance }} has had no watch for more than $for. " +
		"Its cache is stale.",
	Runbook: Runbook{
		Meaning: "The informer is synced, but has had no open watch for longer than $for. After a planned end, the next watch opens within milliseconds. After an error, client-go backs off for up to 30 s, or twice that with jitter.",
		Impact:  "The cache is frozen at the moment the watch was lost. Controllers act on old state and see no changes.",
		Diagnosis: []Step{
			{"Find the reasons of the last disconnects.", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_watch_disconnects_total{@}[15m])) > 0`},
			{"Find the errors of new attempts.", `sum by (@cluster, name, informer_type, error_type) (increase(k8s_informer_sync_errors_total{@}[15m])) > 0`},
			{"Compare instances and resources: a single instance, a single resource, or all of them.", `count by (@cluster, @instance) (k8s_informer_watch_connected{@} == 0)`},
		},
		Mitigation: []string{
			"All resources of one instance: check the network of its node, its token and network policies.",
			"All instances: check the API server and its load balancer or proxy.",
			"One resource: its CustomResourceDefinition was removed, its conversion webhook fails, or the permission to `watch` was revoked.",
			"The informer recovers when the API server answers. A restart is not needed and costs a full list.",
		},
	},
}

var informerWatchDisconnects = Alert{
	Name:      "InformerWatchDisconnects",
	Objective: catalog.Objectives.WatchDisconnects,
	labels:    ofProcess,
	// Never summed over informers, and without planned ends, which have their own counter: 150 healthy informers have 20
	// planned ends a minute.
	expr:    `60 * sum without (reason) (rate(k8s_informer_watch_disconnects_total{@}[$window])) > $threshold`,
	summary: someInformer + " keeps losing its watch.",
	description: someInformer + ` on {{ $labels.@instance }} loses its watch {{ $value | printf "%.1f" }} times per minute; ` +
		"the objective is at most $objective. Excludes planned timeouts.",
	Runbook: Runbook{
		Meaning: "One informer has lost its watch, or failed to open it, at a rate above $objective for $for, measured over $window. Planned ends after 5 to 10 minutes do not count.",
		Impact:  "Each new watch costs a request and possibly a full list, and the cache is stale between watches. Many informers at once put load on the API server.",
		Diagnosis: []Step{
			{"Find the reason. `server_close`: a component between client and server closes streams, such as the idle timeout of a proxy. `very_short`: the server accepts the watch and closes it. `expired`: the resource version was compacted. `throttled`: API priority and fairness. `refused`: no process listens.", `sum by (@cluster, name, informer_type, reason) (60 * rate(k8s_informer_watch_disconnects_total{@}[5m])) > 0`},
			{"Check the duration of watches. Equal durations indicate the timeout of a proxy or load balancer.", `histogram_quantile(0.5, sum by (le, @cluster, name, informer_type) (rate(k8s_informer_watch_duration_seconds_bucket{@}[15m])))`},
			{"Check whether the disconnects cause full lists.", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_relists_total{@}[15m])) > 0`},
		},
		Mitigation: []string{
			"Raise the idle timeout of load balancers and proxies above 10 minutes, or let HTTP/2 pings pass.",
			"`expired`: check the compaction interval of etcd and how long clients are disconnected. Enable bookmarks if they are disabled.",
			"`throttled`: give the program its own flow schema.",
		},
	},
}

var informerCoverageGap = Alert{
	Name:      "InformerCoverageGap",
	Objective: catalog.Objectives.CoverageGap,
	labels:    ofInformer,
	// Requires at least one gap above the threshold. Prometheus does not extrapolate counters below 0, so a fraction of an old
	// gap can remain in the window and lift the quantile of a few short gaps into its bucket.
	expr: `
histogram_quantile($quantile, sum by (le, @cluster, @job, name, informer_type, watch_namespace) (increase(k8s_informer_coverage_gap_seconds_bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @job, name, informer_type, watch_namespace) (increase(k8s_informer_coverage_gap_seconds_bucket{@, le="+Inf"}[$window]))
-
sum by (@cluster, @job, name, informer_type, watch_namespace) (increase(k8s_informer_coverage_gap_seconds_bucket{@, $bound}[$window]))
> 0.5
`,
	summary: someInformer + " had no watch for {{ $value | humanizeDuration }}.",
	description: someInformer + " had no watch for up to {{ $value | humanizeDuration }} at a time in the last $window; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "More than $objective passed from the end of a watch until its successor was up to date, at the 99th percentile over $window. An informer reconnects so rarely that this is about its longest gap.",
		Impact:  "Changes during a gap arrive late and in a burst. No change is lost: the next watch or list delivers the state.",
		Diagnosis: []Step{
			{"Find out why the watches ended.", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_watch_disconnects_total{@}[30m])) > 0`},
			{"Check whether reconnecting needed full lists, which take longest.", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_relists_total{@, reason!="initial"}[30m])) > 0`},
			{"Check whether planned ends alone cause gaps. If so, opening a watch is slow: client-side rate limits, a slow load balancer, TLS.", `sum by (@cluster, name, informer_type) (increase(k8s_informer_watch_timeouts_total{@}[30m]))`},
		},
		Mitigation: []string{
			"A restart or upgrade of the API server explains a single gap and needs no action.",
			"Frequent `expired`: see InformerWatchDisconnects.",
			"Gaps at planned ends: raise `QPS` and `Burst` of the `rest.Config`, so that watches do not queue behind other requests.",
		},
	},
}
