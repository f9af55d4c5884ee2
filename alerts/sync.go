package alerts

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var informerNotSynced = Alert{
	Name:      "InformerNotSynced",
	Objective: catalog.Objectives.NotSynced,
	labels:    ofProcess,
	// Resources that the exporter may not watch raise InformerExporterKindDown instead.
	expr: `
k8s_informer_synced{@} == 0
unless on (@cluster, @job, @instance, informer_type)
informer_exporter_kind_up{@} == 0
`,
	summary: someInformer + " is not synced.",
	description: someInformer + " on {{ $labels.@instance }} has not completed its initial sync for more than $for. " +
		"Controllers that wait for this cache have not started.",
	Runbook: Runbook{
		Meaning: "client-go's `HasSynced` has been false for longer than $for: the first list, or the initial events of a streaming list, are not complete. The objective is that every informer is synced by then.",
		Impact:  "Controllers wait for their caches before they start, so the controller does nothing. Its readiness probe fails if it checks the caches. Other replicas that are synced are not affected.",
		Diagnosis: []Step{
			{"Find the informers and instances. If one resource fails on all instances, check its permissions and its CustomResourceDefinition; if all resources of one instance fail, check its network.", `k8s_informer_synced{@} == 0`},
			{"Check the errors of its lists. `forbidden` and `unauthorized`: RBAC and tokens. `timeout` and `server`: the API server. `refused`: the network. `throttled`: API priority and fairness.", `sum by (@cluster, name, informer_type, error_type) (increase(k8s_informer_sync_errors_total{@}[10m])) > 0`},
			{"Check whether the resource is merely large: lists succeed elsewhere, but take long.", `histogram_quantile(0.99, sum by (le, @cluster, informer_type) (rate(k8s_informer_list_duration_seconds_bucket{@}[1h])))`},
		},
		Mitigation: []string{
			"`forbidden`: grant `list` and `watch` on the resource, in the scope that the informer watches. Check with `kubectl auth can-i list RESOURCE --as=system:serviceaccount:NAMESPACE:NAME`.",
			"The resource does not exist (`other`, 404): install its CustomResourceDefinition, or remove it from the program.",
			"Large resources: watch fewer namespaces or use a selector, strip fields with a transform, and give the process more CPU. A streaming list needs less memory on the server.",
			"API server overloaded or unreachable: check its own alerts first. Restarting the controller only adds another full list.",
		},
	},
}

var informerSyncSlow = Alert{
	Name:      "InformerSyncSlow",
	Objective: catalog.Objectives.SyncDuration,
	labels:    ofProcess,
	gauge:     true,
	// The rule reads the gauge instead of a quantile of the histogram, because a single sync before the first scrape has no
	// rate. The gauge keeps its value until the next sync, so an unchanged value fires only for the length of the window.
	// A sync that had to wait for the end of an outage is part of that.
	// The older value is read over a window as well: otherwise a failed scrape at that time would look like a change.
	expr: `
k8s_informer_last_sync_duration_seconds{@} > $threshold
unless
k8s_informer_last_sync_duration_seconds{@} == last_over_time(k8s_informer_last_sync_duration_seconds{@}[$window] offset $window)
unless on (@cluster)
max_over_time(ALERTS{alertname="` + apiUnreachable.Name + `", alertstate="firing"}[$window])
`,
	summary: someInformer + " took {{ $value | humanizeDuration }} to sync.",
	description: someInformer + " on {{ $labels.@instance }} took {{ $value | humanizeDuration }} for its last sync; the objective is at most $objective. " +
		"Resolves on the next sync within the objective, or after $window.",
	Runbook: Runbook{
		Meaning: "The last sync, from the moment it was needed until its objects were in the cache, took longer than $objective, failed attempts included. Only the last sync counts, however rare syncs are. The alert resolves after $window.",
		Impact:  "A controller does not start before its first sync. During a relist it works on the state from before the watch was lost.",
		Diagnosis: []Step{
			{"Find the reason for the list. `initial` is a start. `expired`: the API server no longer had the events since the last known resource version.", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_relists_total{@}[1h])) > 0`},
			{"Check for failed attempts before the list.", `sum by (@cluster, name, informer_type, error_type) (increase(k8s_informer_sync_errors_total{@}[1h])) > 0`},
			{"Check the number of objects.", `sum by (@cluster, informer_type) (max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_objects{@}))`},
		},
		Mitigation: []string{
			"Failed attempts: see InformerListWatchErrors.",
			"Many or large objects: watch fewer of them (namespaces, selectors), drop `managedFields` with a transform, or use metadata-only informers.",
			"A client-side rate limit shared by many informers queues their lists at startup: raise `QPS` and `Burst` of the `rest.Config`.",
			"If such a duration is normal for this resource, raise the objective `sync_duration`.",
		},
	},
}

// failures returns the errors of lists and watches over the window, excluding permanent errors of resources that the
// exporter cannot watch.
func failures(function string) string {
	const permanent = `error_type=~"forbidden|other"`
	all := function + `(k8s_informer_sync_errors_total{@, $type}[$window])`
	return strings.ReplaceAll(all, "$type", strings.Replace(permanent, "=~", "!~", 1)) +
		" or (" + strings.ReplaceAll(all, "$type", permanent) +
		" unless on (@cluster, @job, @instance, informer_type) informer_exporter_kind_up{@} == 0)"
}

var informerListWatchErrors = Alert{
	Name:      "InformerListWatchErrors",
	Objective: catalog.Objectives.ListWatchErrors,
	labels:    ofProgram,
	// Attempts are errors, lists that were completed and watches that were opened. A healthy informer makes one in 5 to 10
	// minutes, so a single error is a large share. The rule therefore requires a minimum number of attempts and a duration.
	// A resource that the exporter may not or cannot watch raises InformerExporterKindDown, and must not affect the error
	// rate of the others.
	expr: `
(
  sum by (@cluster, @job, name) (` + failures("rate") + `)
/
  (
    sum by (@cluster, @job, name) (` + failures("rate") + `)
  +
    sum by (@cluster, @job, name) (rate(k8s_informer_watches_total{@}[$window]))
  +
    sum by (@cluster, @job, name) (rate(k8s_informer_list_duration_seconds_count{@}[$window]))
  )
) > $threshold
and
(
  sum by (@cluster, @job, name) (` + failures("increase") + `)
+
  sum by (@cluster, @job, name) (increase(k8s_informer_watches_total{@}[$window]))
+
  sum by (@cluster, @job, name) (increase(k8s_informer_list_duration_seconds_count{@}[$window]))
) >= $count
`,
	summary: "List and watch requests of {{ $labels.name }}" + inCluster + " have a high error rate.",
	description: "{{ $value | humanizePercentage }} of the list and watch attempts of {{ $labels.name }}" + inCluster +
		" have failed for $for; the objective is at most $objective. Its caches are stale or incomplete.",
	Runbook: Runbook{
		Meaning: "More than $objective of the lists and watches attempted by the program's informers fail, with at least $count attempts in $window, for $for without interruption. A single lost connection or expired resource version does not fire this alert.",
		Impact:  "Caches are stale or incomplete until the cause is fixed. Controllers act on old state, and starting controllers do not become ready.",
		Diagnosis: []Step{
			{"Find the class of the errors. `forbidden`, `unauthorized`: permissions or tokens. `refused`, `timeout`: the network or the API server. `throttled`: API priority and fairness. Repeated `expired`: the server compacts events faster than the client reads them. `decode`: the schema, or a proxy that corrupts the stream.", `sum by (@cluster, name, error_type) (increase(k8s_informer_sync_errors_total{@}[15m])) > 0`},
			{"Find the resources. If a single one fails, check that resource and its CustomResourceDefinition; if all of them fail, check the connection.", `sum by (@cluster, name, informer_type) (increase(k8s_informer_sync_errors_total{@}[15m])) > 0`},
			{"Check whether watches are up.", `min by (@cluster, name, informer_type) (k8s_informer_watch_connected{@})`},
		},
		Mitigation: []string{
			"Permissions: compare the ClusterRole with the resources that the program watches. Check for a rotated token or an expired certificate.",
			"API server or network: check the API server's own alerts, its load balancer and network policies. Do not restart controllers: each restart adds another round of full lists.",
			"Throttling: give the program its own flow schema, or fewer informers.",
		},
	},
}
