package alerts

import (
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

var informerNotSynced = Alert{
	Name:      "InformerNotSynced",
	Objective: catalog.Objectives.NotSynced,
	Reason:    "a new replica waits; synced replicas do the work",
	labels:    ofProcess,
	// Resources that the exporter cannot watch raise InformerExporterKindDown instead.
	expr: `
k8s_informer_synced{@} == 0
unless on (@cluster, @namespace, @job, @instance, informer_type)
informer_exporter_kind_up{@} == 0
`,
	summary: someInformer + " is not synced.",
	description: someInformer + inProcess + " has not completed its initial sync for more than $for. " +
		"Controllers that wait for this cache have not started.",
	Runbook: Runbook{
		Unless:  "no replica of the program is ready",
		Meaning: "The first list of this informer, or the initial events of its streaming list, have not completed for more than $for: client-go's `HasSynced` is false.",
		Impact:  "Controllers wait for their caches before they start, so the controller does nothing. Replicas that are synced are not affected.",
		Commands: []Step{
			podLog("reflector|forbidden|failed to (list|watch)"),
			mayList,
			countObjects,
		},
		Queries: []Step{
			{"Errors. `forbidden`, `unauthorized`: permissions, token. `refused`, `timeout`, `server`: network, API server. `throttled`: API priority and fairness.", `sum by (error_type) (` + prom.Occurred(`k8s_informer_sync_errors_total{@, `+ofThisProcess+ofThisInformer+`}`, "10m") + `) > 0`},
			{"Other processes with this problem. If all watch this resource, suspect the resource; if all are in one Pod, its network.", `k8s_informer_synced{@, ` + inThisCluster + `} == 0`},
		},
		Causes: []string{
			"No permission: grant `list` and `watch` on the resource, in the scope that the informer watches.",
			"The resource does not exist: install its CustomResourceDefinition, or remove it from the program.",
			"Too large: watch fewer namespaces or use a selector, strip fields with a transform, and give the process more CPU.",
			"API server overloaded or unreachable: check its own alerts first. A restart of the program only adds another full list.",
		},
		Resolves: "when the first list completes: `k8s_informer_synced` is 1, and the Pod becomes ready if its probe checks the caches.",
		Escalate: controllerTeam,
	},
}

var informerReadsBeforeSync = Alert{
	Name:      "InformerReadsBeforeSync",
	Objective: catalog.Objectives.UnsyncedReads,
	Reason:    "a bug in the program; the fix needs a new release",
	labels:    ofProcess,
	keep:      10 * time.Minute,
	// Such reads end with the first sync, often before the first scrape.
	expr:    `(` + occurred(`k8s_informer_unsynced_reads_total{@}`) + `) > $threshold`,
	summary: program + " reads the cache of informer {{ $labels.informer_type }} before it is synced.",
	description: program + inProcess + ` read the cache of its {{ $labels.informer_type }} informer {{ $value | printf "%.0f" }} times ` +
		"before the initial sync. Lookups found nothing and lists were incomplete, as if objects did not exist.",
	Runbook: Runbook{
		Meaning: "Code read the cache before its first list was complete: by key, without finding the object, or as a list.",
		Impact:  "The program treats existing objects as missing. It may create them again, or delete what belongs to them. The reads return no error and are not logged.",
		Commands: []Step{
			podLog("not found|creat|delet").because("Look for wrong decisions shortly after the start."),
			rollouts,
			restartPod.because("Only if the program does not correct itself: restart it once the API server responds quickly."),
		},
		Queries: []Step{
			{"Affected caches. Several of one program: it does not wait for any.", `sum by (@namespace, @pod, name, informer_type) (` + prom.Occurred(`k8s_informer_unsynced_reads_total{@, `+inThisCluster+`}`, "1h") + `) > 0`},
			{"Duration of the last syncs in seconds.", `k8s_informer_last_sync_duration_seconds{@, ` + ofThisProcess + `}`},
		},
		Causes: []string{
			"Workers start before `cache.WaitForCacheSync` has returned, or the program ignores its result.",
			"A controller waits only for the informer with its handler, and reads others: wait for all of them.",
			"A handler reads another cache while that one still syncs: only add a key to a queue.",
		},
		Resolves: "after $window without such reads, plus 10 minutes.",
		Escalate: controllerTeam,
	},
}

var informerSyncSlow = Alert{
	Name:      "InformerSyncSlow",
	Objective: catalog.Objectives.SyncDuration,
	Reason:    "the sync completes; only starts and relists are slow",
	labels:    ofProcess,
	gauge:     true,
	// The rule reads the gauge instead of a quantile of the histogram, because a single sync before the first scrape has no
	// rate. The gauge keeps its value until the next sync, so an unchanged value fires only for the length of the window.
	// A sync that had to wait for the end of an outage is part of the outage.
	// The older value is read over a window as well: otherwise a failed scrape at that time would look like a change. A series that only
	// begins anew, after a gap in Prometheus or with other target labels, may be from days ago (see prom.Occurred).
	expr: `
k8s_informer_last_sync_duration_seconds{@} > $threshold
unless
k8s_informer_last_sync_duration_seconds{@} == last_over_time(k8s_informer_last_sync_duration_seconds{@}[$window] offset $window)
and on (@cluster, @job, @instance)
(
  process_start_time_seconds{@process} > time() - $seconds
or
  process_start_time_seconds{@process} offset $window
or
  last_over_time(k8s_informer_last_sync_duration_seconds{@}[$window] offset $window)
)
unless on (@cluster)
max_over_time(ALERTS{alertname="` + apiUnreachable.Name + `", alertstate="firing"}[$window])
`,
	summary: someInformer + " took {{ $value | humanizeDuration }} to sync.",
	description: someInformer + inProcess + " took {{ $value | humanizeDuration }} for its last sync; the objective is at most $objective. " +
		"Resolves on the next sync within the objective, or after $window.",
	Runbook: Runbook{
		Meaning: "The last sync of this informer took longer than $objective, failed attempts included. Only the last sync counts.",
		Impact:  "A controller does not start before its first sync. During a relist it works on the state from before the watch was lost.",
		Commands: []Step{
			podLog("reflector|throttl|failed to (list|watch)"),
			countObjects,
			describePod,
		},
		Queries: []Step{
			{"Reason for the list. `initial`: the process has started. `expired`: the API server no longer had the events since the last known resource version.", `sum by (reason) (` + prom.Occurred(`k8s_informer_relists_total{@, `+ofThisProcess+ofThisInformer+`}`, "1h") + `) > 0`},
			{"Failed attempts before the list.", `sum by (error_type) (` + prom.Occurred(`k8s_informer_sync_errors_total{@, `+ofThisProcess+ofThisInformer+`}`, "1h") + `) > 0`},
		},
		Causes: []string{
			"Failed attempts: see InformerListWatchErrors.",
			"Many or large objects: watch fewer of them (namespaces, selectors), drop `managedFields` with a transform, or use metadata-only informers.",
			"A client-side rate limit shared by many informers queues their lists at startup: raise `QPS` and `Burst` of the `rest.Config`.",
			"If this is normal for the resource, raise the objective `sync_duration`.",
		},
		Resolves: "on the next sync within $objective, or after $window. Current value: `k8s_informer_last_sync_duration_seconds`.",
		Escalate: controllerTeam,
	},
}

// rated and occurred read counters of errors over the window. An error type has a series only once it has occurred; occurred also
// counts that first error.
func rated(series string) string    { return "rate(" + series + "[$window])" }
func occurred(series string) string { return prom.Occurred(series, "$window") }

// failures returns the errors of lists and watches over the window, excluding permanent errors of resources that the
// exporter cannot watch.
func failures(over func(series string) string) string {
	const permanent = `error_type=~"forbidden|not_found|other"`
	all := over(`k8s_informer_sync_errors_total{@, $type}`)
	return strings.ReplaceAll(all, "$type", strings.Replace(permanent, "=~", "!~", 1)) +
		" or ((" + strings.ReplaceAll(all, "$type", permanent) +
		") unless on (@cluster, @namespace, @job, @instance, informer_type) informer_exporter_kind_up{@} == 0)"
}

var informerListWatchErrors = Alert{
	Name:      "InformerListWatchErrors",
	Objective: catalog.Objectives.ListWatchErrors,
	Reason:    "one resource is affected; when all are, KubernetesAPIUnreachable pages",
	labels:    ofResource,
	// By resource: one missing CustomResourceDefinition among fifty informers is one alert, which names it. Attempts are errors,
	// lists that were completed and watches that were opened. A healthy informer makes one in 5 to 10 minutes, so a single error
	// is a large share of a few attempts. The rule therefore requires a minimum number of errors, and a duration. client-go's
	// backoff grows to 30 to 60 s: an informer that fails at each attempt reaches the minimum in each window, even if every
	// attempt takes another 30 s to time out. A resource that the exporter cannot watch raises
	// InformerExporterKindDown instead.
	expr: `
(
  sum by (@cluster, @namespace, @job, name, informer_type) (` + failures(rated) + `)
/
  (
    sum by (@cluster, @namespace, @job, name, informer_type) (` + failures(rated) + `)
  +
    sum by (@cluster, @namespace, @job, name, informer_type) (rate(k8s_informer_watches_total{@}[$window]))
  +
    sum by (@cluster, @namespace, @job, name, informer_type) (rate(k8s_informer_list_duration_seconds_count{@}[$window]))
  )
) > $threshold
and
sum by (@cluster, @namespace, @job, name, informer_type) (` + failures(occurred) + `) >= $count
`,
	summary: "List and watch requests of " + program + " for {{ $labels.informer_type }} have a high error rate.",
	description: "{{ $value | humanizePercentage }} of the list and watch attempts by " + program + " for {{ $labels.informer_type }}" +
		" have failed for $for; the objective is at most $objective. Its cache is stale or incomplete.",
	Runbook: Runbook{
		Unless:  "many programs have this alert",
		Meaning: "More than $objective of the lists and watches that this program attempts for this resource have failed for $for, with at least $count errors in $window over all its processes. A single lost connection or expired resource version does not fire this alert.",
		Impact:  "Caches are stale or incomplete until the cause is fixed. Controllers act on old state, and starting controllers do not become ready.",
		Commands: []Step{
			listPods,
			replicaLog("reflector|forbidden|failed to (list|watch)"),
			readyz,
		},
		Queries: []Step{
			{"Errors. `forbidden`, `unauthorized`: permissions, token. `not_found`: a missing CustomResourceDefinition. `refused`, `timeout`: network, API server. `throttled`: API priority and fairness. Repeated `expired`: the server compacts events faster than the client reads them. `decode`: the schema, or a proxy.", `sum by (@pod, error_type) (` + prom.Occurred(`k8s_informer_sync_errors_total{@, `+ofThisProgram+ofThisInformer+`}`, "15m") + `) > 0`},
			{"Resources of the program. If a single one fails, check it and its CustomResourceDefinition; otherwise the connection.", `sum by (informer_type) (` + prom.Occurred(`k8s_informer_sync_errors_total{@, `+ofThisProgram+`}`, "15m") + `) > 0`},
		},
		Causes: []string{
			"Permissions: compare the ClusterRole with the resources that the program watches. Check for a rotated token or an expired certificate.",
			"API server or network: its own alerts, load balancer, network policies. Do not restart programs: each restart adds a round of full lists.",
			"Throttling: give the program its own flow schema, or fewer informers.",
		},
		Resolves: "when the error rate falls to $objective, within $window of the last error: the values of the first query decrease.",
		Escalate: controllerTeam + ", or " + apiServerTeam + " if several programs have this alert",
	},
}
