package alerts

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var informerNotSynced = Alert{
	Name:      "InformerNotSynced",
	Objective: catalog.NotSynced,
	labels:    ofProcess,
	// What the exporter is not allowed to see is the business of InformerExporterKindDown.
	expr: `
k8s_informer_synced{@} == 0
unless on (@cluster, @job, @instance, informer_type)
informer_exporter_kind_up{@} == 0
`,
	summary: someInformer + " has no full state yet.",
	description: someInformer + " on {{ $labels.@instance }} has not taken in a first full state for more than $for. " +
		"Whatever waits for its cache does not run.",
	Runbook: Runbook{
		Meaning: "client-go's `HasSynced` has been false for longer than $for: the first list, or the initial part of a streaming list, has not come to its end. The objective is that every informer is synced by then.",
		Impact:  "Controllers wait for their caches before they start, so the controller does nothing at all; its readiness probe fails if it looks at the caches. Other replicas that are synced are not affected.",
		Diagnosis: []Step{
			{"Which informers, on which instances? One kind everywhere is a matter of permissions or of that kind; every kind on one instance is a matter of its network.", `k8s_informer_synced{@} == 0`},
			{"Do its lists fail, and how? `forbidden` and `unauthorized` are RBAC and tokens, `timeout` and `server` the API server, `refused` the network, `throttled` API priority and fairness.", `sum by (@cluster, name, informer_type, error_type) (increase(k8s_informer_sync_errors_total{@}[10m])) > 0`},
			{"Or is it merely large? Then lists succeed elsewhere and take long.", `histogram_quantile(0.99, sum by (le, @cluster, informer_type) (rate(k8s_informer_list_duration_seconds_bucket{@}[1h])))`},
		},
		Mitigation: []string{
			"`forbidden`: grant `list` and `watch` on the resource, in the scope that the informer watches. Check with `kubectl auth can-i list RESOURCE --as=system:serviceaccount:NAMESPACE:NAME`.",
			"The kind does not exist (`other`, 404): install its CustomResourceDefinition, or stop asking for it.",
			"Large kinds: watch fewer namespaces or use a selector, strip fields with a transform, give the process more CPU; a streaming list needs less memory on the server.",
			"The API server is overloaded or unreachable: its own alerts come first. Restarting the controller only adds another full list.",
		},
	},
}

var informerSyncSlow = Alert{
	Name:      "InformerSyncSlow",
	Objective: catalog.SyncDuration,
	labels:    ofProcess,
	gauge:     true,
	// The gauge and not a quantile of the histogram's rate: a single sync before the first scrape has no rate. It keeps
	// its value until the next sync, so an unchanged value counts for the length of the window only. The older value is
	// that of a window, too, or a scrape that failed then would make it look changed.
	expr: `
k8s_informer_last_sync_duration_seconds{@} > $threshold
unless
k8s_informer_last_sync_duration_seconds{@} == last_over_time(k8s_informer_last_sync_duration_seconds{@}[$window] offset $window)
`,
	summary: someInformer + " took longer than $objective to sync.",
	description: someInformer + " on {{ $labels.@instance }} took {{ $value | humanizeDuration }} for its last full state; the objective is $objective. " +
		"The alert ends with the next sync that is fast enough, or after $window.",
	Runbook: Runbook{
		Meaning: "The last full state, from the moment that it was needed until it was in the cache, took longer than $objective, failed attempts included. It is the last sync that counts, however rare syncs are; $window later the alert closes itself.",
		Impact:  "Until a first sync ends, a controller does not start. During a relist it works on the state from before the watch was lost.",
		Diagnosis: []Step{
			{"Why was a full state needed? `initial` is a start, `expired` means that the API server no longer had the events since the last one seen.", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_relists_total{@}[1h])) > 0`},
			{"Was it the list itself, or failed attempts before it?", `sum by (@cluster, name, informer_type, error_type) (increase(k8s_informer_sync_errors_total{@}[1h])) > 0`},
			{"How many objects are there?", `sum by (@cluster, informer_type) (max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_objects{@}))`},
		},
		Mitigation: []string{
			"Failed attempts: follow InformerListWatchErrors.",
			"Many or large objects: watch fewer of them (namespaces, selectors), drop `managedFields` with a transform, use metadata-only informers where that is enough.",
			"A client-side rate limit shared by many informers makes them queue at start: raise `QPS` and `Burst` of the `rest.Config`.",
			"If such a time is normal for this kind, raise the objective `sync_duration`.",
		},
	},
}

// failures returns the errors of lists and watches over the window, without the answers that say for good that the
// exporter cannot watch a resource.
func failures(function string) string {
	const permanent = `error_type=~"forbidden|other"`
	all := function + `(k8s_informer_sync_errors_total{@, $type}[$window])`
	return strings.ReplaceAll(all, "$type", strings.Replace(permanent, "=~", "!~", 1)) +
		" or (" + strings.ReplaceAll(all, "$type", permanent) +
		" unless on (@cluster, @job, @instance, informer_type) informer_exporter_kind_up{@} == 0)"
}

var informerListWatchErrors = Alert{
	Name:      "InformerListWatchErrors",
	Objective: catalog.ListWatchErrors,
	labels:    ofProgram,
	// Attempts are errors, lists that were completed and watches that were opened. A healthy informer makes one in 5 to 10
	// minutes, so a single error is a large share: the least number of attempts and the time make the difference.
	// A resource that the exporter may not or cannot watch is InformerExporterKindDown, and must not look like a failure of
	// all the others.
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
	summary: "Lists and watches of {{ $labels.name }}" + inCluster + " fail.",
	description: "{{ $value | humanizePercentage }} of the list and watch attempts of {{ $labels.name }}" + inCluster +
		" have failed for $for; the objective is at most $objective. Its caches are falling behind or cannot be filled.",
	Runbook: Runbook{
		Meaning: "Of all lists and watches that the program's informers attempt, more than $objective fail, at least $count attempts in $window being looked at, for $for without a break. One lost connection or one expired resourceVersion does not get here.",
		Impact:  "Caches are stale or incomplete and stay so until the cause is gone. Controllers act on old state; those that start now do not become ready.",
		Diagnosis: []Step{
			{"Which class of error? `forbidden`, `unauthorized`: permissions or tokens. `refused`, `timeout`: the network or the API server. `throttled`: API priority and fairness. `expired` again and again: the server compacts faster than the client reads. `decode`: a schema or a proxy that mangles the stream.", `sum by (@cluster, name, error_type) (increase(k8s_informer_sync_errors_total{@}[15m])) > 0`},
			{"Which resources? One of them points at that resource or its CustomResourceDefinition, all of them at the connection.", `sum by (@cluster, name, informer_type) (increase(k8s_informer_sync_errors_total{@}[15m])) > 0`},
			{"Are watches up in spite of it?", `min by (@cluster, name, informer_type) (k8s_informer_watch_connected{@})`},
		},
		Mitigation: []string{
			"Permissions: compare the ClusterRole with what the program watches; look for a rotated token or an expired certificate.",
			"API server or network: look at the API server's own alerts, at the load balancer in front of it and at network policies. Do not restart controllers: each restart is another round of full lists.",
			"Throttling: give the program a flow schema of its own, or fewer informers.",
		},
	},
}
