package alerts

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// The alerts in this file read kube-apiserver's own metrics, which concern every informer of the cluster.

var ofServer = []string{"cluster"}

// inGroup names a resource with its group, as informer_type does.
const inGroup = `{{ $labels.resource }}{{ with $labels.group }}.{{ . }}{{ end }}`

var clusterWatchersTerminated = Alert{
	Name:      "ClusterWatchersTerminated",
	Objective: catalog.Objectives.WatchersTerminated,
	Reason:    "the clients reconnect by themselves",
	board:     clientBoard,
	labels:    ofServer,
	expr:      `sum by (@cluster, group, resource) (` + occurred(`apiserver_terminated_watchers_total{@}`) + `) >= $threshold`,

	summary: "The API server" + inCluster + " terminates watches of " + inGroup + ".",
	description: `The API server closed {{ $value | printf "%.0f" }} watches of ` + inGroup + inCluster + " in $window because their clients read too slowly; " +
		"the objective is fewer than $objective.",
	Runbook: Runbook{
		Meaning: "The API server closed $objective or more watches in $window, because their clients did not read the events in time. It does not report which clients. The metric exists only after the first such watch.",
		Impact:  "The caches of clients that read too slowly are stale. Each client reconnects and, if it is too far behind, lists all objects again, which loads the API server.",
		Commands: []Step{
			{"Find the clients in the log of the API server, which names them with `-v=1` and above.", `kubectl -n kube-system logs -l component=kube-apiserver --since=30m --tail=-1 --prefix | grep 'watcher close due to unresponsiveness'`},
			{"Find the programs that use the most CPU (needs the metrics API).", `kubectl top pods -A --sort-by=cpu | head -20`},
			lastChanges.because("Set `RESOURCE` to a resource from the first query, and find its writers."),
		},
		Queries: []Step{
			{"Affected resources.", `sum by (group, resource) (` + prom.Occurred(`apiserver_terminated_watchers_total{@, `+inThisCluster+`}`, "1h") + `) > 0`},
			{"Programs with watch disconnects. (No result for programs without the library.)", `sum by (@namespace, @pod, name, informer_type, reason) (` + prom.Occurred(`k8s_informer_watch_disconnects_total{@, `+inThisCluster+`}`, "15m") + `) > 0`},
			{"Informers with many pending events. (No result for programs without the library.)", `max by (@namespace, @pod, name, informer_type) (k8s_informer_handler_pending_events{@, ` + inThisCluster + `}) > 100`},
		},
		Causes: []string{
			"A client short of CPU cannot decode its events: raise its limit.",
			"A client with a slow transform or decoder: make it faster, or watch metadata only.",
			"A writer that changes many objects in a burst: spread its writes over time.",
			"A client behind a slow network: watch fewer namespaces, or use selectors.",
		},
		Resolves: "when fewer than $objective watches were closed within $window: see the first query.",
		Escalate: apiServerTeam,
	},
}

var clusterWatchCacheInconsistent = Alert{
	Name:      "ClusterWatchCacheInconsistent",
	Objective: catalog.Objectives.CacheInconsistent,
	Reason:    "one resource of one API server; urgent only if controllers act on the inconsistent data",
	board:     clientBoard,
	labels:    []string{"cluster", "instance"},
	expr: `sum by (@cluster, @namespace, @pod, @instance, group, resource) (` +
		occurred(`apiserver_storage_consistency_checks_total{@, status="failure"}`) + `) > $threshold`,

	summary: "The API server " + thisProcess + inCluster + " serves " + inGroup + " from an inconsistent cache.",
	description: "The watch cache of the API server " + thisProcess + inCluster + " for " + inGroup + " was inconsistent with etcd in the last $window. " +
		"Informers may have received objects that do not exist.",
	Runbook: Runbook{
		Unless:  "controllers act on objects that do not exist",
		Meaning: "The API server compares each of its watch caches with etcd every five minutes (Kubernetes 1.34 and later). At least one comparison failed in the last $window.",
		Impact:  "Lists and watches of the resource may miss objects or contain deleted ones. Informers keep what they received until they relist.",
		Commands: []Step{
			{"Find the differences in the log of the API server.", `kubectl -n kube-system logs -l component=kube-apiserver --since=30m --tail=-1 --prefix | grep 'Cache consistency check failed'`},
			readyz.because("Check etcd and the API server."),
			{"List the API servers, with their restarts.", `kubectl -n kube-system get pods -l component=kube-apiserver -o wide`},
		},
		Queries: []Step{
			{"Affected API servers and resources. All API servers: something writes to etcd directly, or etcd was restored.", `sum by (@instance, group, resource) (` + prom.Occurred(`apiserver_storage_consistency_checks_total{@, `+inThisCluster+`, status="failure"}`, "1h") + `) > 0`},
			{"Informers that are inconsistent as well. (No result without audits.)", `max by (@namespace, @pod, name, informer_type) (k8s_informer_audit_differences{@, ` + inThisCluster + `}) > 0`},
		},
		Causes: []string{
			"Restart the affected API servers one at a time: each fills its caches from etcd.",
			"Then restart the controllers that read the resource: an informer that only resumes its watch keeps wrong objects.",
			"Report the failure to Kubernetes with the log of the API server.",
		},
		Resolves: "$window after the last failed comparison.",
		Escalate: apiServerTeam,
	},
}
