package alerts

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

var informerWatchDown = Alert{
	Name:      "InformerWatchDown",
	Objective: catalog.Objectives.WatchDown,
	Reason:    "one cache is stale and client-go retries; when all are, KubernetesAPIUnreachable pages",
	labels:    ofProcess,
	// InformerNotSynced covers the time before the initial sync.
	expr: `
k8s_informer_watch_connected{@} == 0
and
k8s_informer_synced{@} == 1
`,
	summary: someInformer + " has no watch.",
	description: someInformer + inProcess + " has had no watch for more than $for. " +
		"Its cache is stale.",
	Runbook: Runbook{
		Unless:  "all informers of a program have this alert",
		Meaning: "The informer is synced, but has had no open watch for longer than $for. After an error, client-go backs off for up to 30 s, plus jitter of up to 100%.",
		Impact:  "The cache is frozen at the moment the watch was lost. Controllers act on old state and see no changes.",
		Commands: []Step{
			podLog("reflector|forbidden|failed to (list|watch)"),
			mayList,
			readyz,
		},
		Queries: []Step{
			{"Errors of new attempts.", `sum by (error_type) (` + prom.Occurred(`k8s_informer_sync_errors_total{@, `+ofThisProcess+ofThisInformer+`}`, "15m") + `) > 0`},
			{"Reasons for the last disconnects.", `sum by (reason) (` + prom.Occurred(`k8s_informer_watch_disconnects_total{@, `+ofThisProcess+ofThisInformer+`}`, "15m") + `) > 0`},
			{"All informers without a watch: one process, one resource, or all of them?", `count by (@namespace, @pod, name, informer_type) (k8s_informer_watch_connected{@, ` + inThisCluster + `} == 0)`},
		},
		Causes: []string{
			"All resources of one process: the network of its node, its token, network policies.",
			"All processes: the API server, its load balancer or proxy.",
			"One resource: its CustomResourceDefinition was removed, its conversion webhook fails, or the permission to `watch` was revoked.",
		},
		Resolves: "when a watch opens: `k8s_informer_watch_connected` is 1. Do not restart the process: each start costs a full list.",
		Escalate: controllerTeam + ", or " + apiServerTeam,
	},
}

// disconnectsInBackoff is the rate per minute above which watches keep failing, for reasons after which client-go backs off
// (refused, throttled, error, expired, very_short). The backoff of a reflector starts at 0.8 s, doubles up to 30 s, has
// jitter of up to 100%, and resets only after two minutes without a failure (defaultBackoff* in
// tools/cache/reflector.go). A watch that keeps failing therefore ends every 30 to 60 s: 1 to 2 times per minute, after an average
// of 2.6 per minute in the first five minutes. 0.8 leaves 15 s for the attempt itself.
const disconnectsInBackoff = "0.8"

var informerWatchDisconnects = Alert{
	Name:      "InformerWatchDisconnects",
	Objective: catalog.Objectives.WatchDisconnects,
	Reason:    "each watch recovers by itself; the cost is load on the API server",
	labels:    ofProcess,
	// Never summed over informers, and without planned timeouts, which have their own counter: 150 healthy informers have 20 of
	// them a minute. Only watches that the server ends in an orderly way are reopened immediately and can reach the threshold; the
	// others end at the rate of client-go's backoff. A watch that is down all the time raises InformerWatchDown.
	expr: `
60 * sum without (reason) (rate(k8s_informer_watch_disconnects_total{@}[$window])) > $threshold
or
(
  60 * sum without (reason) (rate(k8s_informer_watch_disconnects_total{@, reason!="server_close"}[$window])) > ` + disconnectsInBackoff + `
  unless
  max_over_time(k8s_informer_watch_connected{@}[$window]) == 0
)
`,
	summary: someInformer + " keeps losing its watch.",
	description: someInformer + inProcess + ` loses its watch {{ $value | printf "%.1f" }} times per minute; ` +
		"the objective is at most $objective, or " + disconnectsInBackoff + " per minute for disconnects that cause a backoff. Excludes planned timeouts.",
	Runbook: Runbook{
		Meaning: "This informer has lost its watch, or failed to open it, at a rate above $objective for $for, measured over $window. For reasons other than `server_close`, a rate above " + disconnectsInBackoff + " per minute is enough: after such a disconnect, client-go backs off for up to 60 s. Planned timeouts after 5 to 10 minutes do not count.",
		Impact:  "Each new watch costs a request and possibly a full list, and the cache is stale between watches. Many informers together put load on the API server.",
		Commands: []Step{
			podLog("reflector|watch"),
			readyz,
			apiServers.because("List the API servers. One that restarts ends its watches."),
		},
		Queries: []Step{
			{"Reasons. `server_close`: a proxy closes streams. `very_short`: the server closes the watch immediately. `expired`: the resource version was compacted. `throttled`: API priority and fairness. `refused`: no connection (nothing listens, DNS, or no route).", `sum by (reason) (60 * rate(k8s_informer_watch_disconnects_total{@, ` + ofThisProcess + ofThisInformer + `}[5m])) > 0`},
			{"Mean duration of watches. Less than 5 minutes at a constant value indicates the timeout of a proxy or load balancer.", `sum(rate(k8s_informer_watch_duration_seconds_sum{@, ` + ofThisProcess + ofThisInformer + `}[15m])) / sum(rate(k8s_informer_watch_duration_seconds_count{@, ` + ofThisProcess + ofThisInformer + `}[15m]))`},
			{"Full lists caused by disconnects.", `sum by (reason) (` + prom.Occurred(`k8s_informer_relists_total{@, `+ofThisProcess+ofThisInformer+`}`, "15m") + `) > 0`},
		},
		Causes: []string{
			"The network: a proxy or load balancer that closes streams. Raise its idle timeout above 10 minutes, or let HTTP/2 pings pass.",
			"`expired`: check the compaction interval of etcd, and enable bookmarks if they are disabled.",
			"`throttled`: give the program its own flow schema.",
		},
		Resolves: "when the rate has fallen to $objective over $window, and the rate of reasons other than `server_close` to " + disconnectsInBackoff + " per minute: see the first query.",
		Escalate: "the owners of the proxy or load balancer in front of the API server, or " + apiServerTeam,
	},
}

var informerCoverageGap = Alert{
	Name:      "InformerCoverageGap",
	Objective: catalog.Objectives.CoverageGap,
	Reason:    "events arrive late, but arrive; a single gap with a relist is info",
	labels:    ofInformer,
	// A single gap is normal: any restart of the API server causes one in every informer. Gaps matter if they repeat, or if the
	// API server no longer had the events of the gap. The latter happens to every idle resource when the API server restarts, and
	// means nothing there. Gaps are counted per process, because a restart of the API server causes one in each replica, and
	// counted instead of measured by a quantile, which never exceeds the last bucket.
	expr: `max by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (` + longGaps + `) >= $count`,
	expand: func(a Alert, o catalog.Objective, c Config) []Rule {
		single := a
		single.expr = `
max by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (` + longGaps + `) > 0.5 < $count
and
sum by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (` + occurred(`k8s_informer_relists_total{@, reason="expired"}`) + `) > 0
and
sum by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (` + occurred(`k8s_informer_watch_events_total{@, type!~"bookmark|error"}`) + `) > 0
`
		explains := o
		explains.Severity = catalog.Info
		return []Rule{a.rule(o, c), single.rule(explains, c)}
	},
	summary: someInformer + " has gaps between its watches.",
	description: someInformer + ` had {{ $value | printf "%.0f" }} gaps of more than $objective between its watches in the last $window, in one process. ` +
		"Fires for $count gaps, and as information for one after which the API server no longer had the missed events.",
	Runbook: Runbook{
		Meaning: "More than $objective passed from the end of a watch until its successor was up to date, $count times or more in $window in one process. A single gap fires with severity `@info` if the resource has changes and the API server no longer had the events since then (`410 Gone`), so that the informer relisted.",
		Impact:  "Changes during a gap arrive late and in a burst. Without `410 Gone` no event is lost. After it, handlers see the latest state of each object, but not the changes in between: an object that was deleted and created again looks like an update.",
		Commands: []Step{
			listPods,
			replicaLog("reflector|watch"),
			apiServers.because("List the API servers. One that joined or left explains a gap."),
		},
		Queries: []Step{
			{"Why the watches ended.", `sum by (reason) (` + prom.Occurred(`k8s_informer_watch_disconnects_total{@, `+ofThisProgram+ofThisInformer+`}`, "30m") + `) > 0`},
			{"Full lists after a reconnect, which take the longest.", `sum by (reason) (` + prom.Occurred(`k8s_informer_relists_total{@, `+ofThisProgram+ofThisInformer+`, reason!="initial"}`, "30m") + `) > 0`},
			{"Planned timeouts. If they alone cause gaps, opening a watch is slow: client-side rate limit, load balancer, TLS.", `sum(` + prom.Occurred(`k8s_informer_watch_timeouts_total{@, `+ofThisProgram+ofThisInformer+`}`, "30m") + `)`},
		},
		Causes: []string{
			"A rolling restart or upgrade of API servers explains a few gaps, and lists by informers of rarely changing resources.",
			"Frequent `expired`: see InformerWatchDisconnects.",
			"Gaps after planned timeouts: raise `QPS` and `Burst` of the `rest.Config`, so that watches do not queue behind other requests.",
			"A controller that must see every change cannot rely on events alone: make its reconciles depend on the state of objects only.",
		},
		Resolves: "$window after the last gap.",
		Escalate: controllerTeam,
	},
}

// longGaps is the number of gaps of each process above the objective.
var longGaps = `
  sum without (le) (` + occurred(`k8s_informer_coverage_gap_seconds@within(+Inf){@}`) + `)
  -
  sum without (le) (` + occurred(`k8s_informer_coverage_gap_seconds@within($threshold){@}`) + `)
`
