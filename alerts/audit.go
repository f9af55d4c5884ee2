package alerts

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

var informerCacheDiffers = Alert{
	Name:      "InformerCacheDiffers",
	Objective: catalog.Objectives.CacheDiffers,
	Reason:    "controllers act on objects that do not exist, often until the process restarts",
	labels:    ofProcess,
	// The gauge counts only differences that two consecutive audits found, so the rule needs no for.
	expr:    `k8s_informer_audit_differences{@} > $threshold`,
	summary: "The cache of " + informerIn + " is inconsistent with the API server.",
	description: "The cache of the {{ $labels.informer_type }} informer in " + program + inProcess +
		" has {{ $value }} differences from the API server ({{ $labels.difference }}), confirmed by two audits at the cache's own resource version. " +
		"This is not lag and does not resolve by itself.",
	Runbook: Runbook{
		Meaning: "Two consecutive audits compared each object of the cache with the API server at the cache's own resource version, and found the same differences. This is not lag. `missing`: only the API server has the object. `extra`: only the cache has it. `stale`, `wrong_uid`: the cache has another version, or another object of that name. `index`: an index does not match the objects. `key_collision`: objects share a key.",
		Impact:  "Controllers that read this cache act on objects that do not exist, or miss objects that do exist, until the informer relists, often only after a restart.",
		Commands: []Step{
			{"Save the log, which names some of the objects.", `kubectl -n "$NAMESPACE" logs "$POD" --all-containers > "$POD.log"; grep 'cache is inconsistent' "$POD.log" | tail -n 30`},
			countObjects.because("Count the objects, to compare with `k8s_informer_objects`."),
			restartPod,
		},
		Queries: []Step{
			{"Affected processes. One of several: that process. All of them: shared code, or the API server.", `sum by (@namespace, @pod, name, informer_type, difference) (k8s_informer_audit_differences{@, ` + inThisCluster + `}) > 0`},
			{"Watch disconnects in the last hour.", `sum by (reason) (` + prom.Occurred(`k8s_informer_watch_disconnects_total{@, `+ofThisProcess+ofThisInformer+`}`, "1h") + `) > 0`},
			{"Results of audits.", `sum by (result) (` + prom.Occurred(`k8s_informer_audits_total{@, `+ofThisProcess+ofThisInformer+`}`, "1h") + `) > 0`},
		},
		Causes: []string{
			"`index`, `stale` or `wrong_uid` in one process: code changes cached objects or writes to the store.",
			"`index`, with `k8s_informer_index_errors_total` above 0: an index function returns an error or panics for some objects, which readers of the index do not find.",
			"`missing`: a transform returns nil or an error for some objects.",
			"`key_collision`: the key function omits the namespace, or a transform changes names.",
			"All replicas, or several programs: the watch caches of the API servers diverge, for example after etcd was restored. Restart the API servers one by one.",
		},
		Resolves: "with the first audit that finds no difference after the restart: the first query is empty.",
		Escalate: controllerTeam + ", or " + apiServerTeam + " if several programs have this alert",
	},
}

var informerAuditsFail = Alert{
	Name:      "InformerAuditsFail",
	Objective: catalog.Objectives.AuditsFail,
	Reason:    "only the check fails; the cache itself may be correct",
	labels:    ofProcess,
	// Skipped audits do not count: the cache may change all the time, or the server may not list at exact versions.
	// InformerWatchDown covers a watch that is down.
	expr: `
sum by (@cluster, @namespace, @pod, @job, @instance, name, informer_type, watch_namespace) (` + occurred(`k8s_informer_audits_total{@, result="error"}`) + `) >= $count
unless
sum by (@cluster, @namespace, @pod, @job, @instance, name, informer_type, watch_namespace) (` + occurred(`k8s_informer_audits_total{@, result=~"consistent|different"}`) + `) > 0
`,
	summary: "Audits of " + informerIn + " fail.",
	description: `{{ $value | printf "%.0f" }} audits of the {{ $labels.informer_type }} informer in ` + program +
		inProcess + " have failed in $window, and none has succeeded. The consistency of its cache is unknown.",
	Runbook: Runbook{
		Unless:  "etcd was restored today",
		Meaning: "At least $count audits of this informer have failed within $window, and none was completed. The API server rejects an audit if it has not reached the resource version of the cache, as after etcd was restored to an older state. The watch then stays up and freshness checks find nothing.",
		Impact:  "A cache that is inconsistent with the API server goes undetected. After a restore, the cache has objects and versions that no longer exist, and controllers act on them until the next full list.",
		Commands: []Step{
			readyz,
			countObjects,
			restartPod.because("Only after a restore of etcd: restart the process, which lists everything."),
		},
		Queries: []Step{
			{"Affected informers. All of a cluster: etcd or the API server. One resource: its lists.", `sum by (@namespace, @pod, name, informer_type) (` + prom.Occurred(`k8s_informer_audits_total{@, `+inThisCluster+`, result="error"}`, "30m") + `) > 0`},
			{"Resource version regressions. If there are any, etcd was restored, or the client reached another cluster.", `sum by (name, informer_type) (` + prom.Occurred(`k8s_informer_resource_version_regressions_total{@, `+inThisCluster+`}`, "1h") + `) > 0`},
			{"Errors of lists and watches.", `sum by (error_type) (` + prom.Occurred(`k8s_informer_sync_errors_total{@, `+ofThisProcess+ofThisInformer+`}`, "30m") + `) > 0`},
		},
		Causes: []string{
			"etcd was restored: restart every process that caches this cluster, the API servers first.",
			"Lists time out (30 s for a page of 500 objects, or the metadata of 1,000): the API server is overloaded, or objects are very large. Audit less often.",
			"Lists are throttled: give the program its own flow schema.",
			"`above a limit of its size`: a single object is larger than 16 MiB, or takes more than a quarter of the exporter's memory limit: raise that limit.",
			"The error itself is in the log at level debug: `audit failed`.",
		},
		Resolves: "with the next audit that completes: `increase(k8s_informer_audits_total{result=~\"consistent|different\"}[30m])` is above 0.",
		Escalate: apiServerTeam,
	},
}

// completedAudits is the number of completed audits, over all replicas of a program. With leader election, only one replica audits,
// and a new leader starts at 0, so only the sum changes with every audit.
const completedAudits = `sum by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (last_over_time(k8s_informer_audits_total{@, result=~"consistent|different"}[5m]`

var informerAuditsMissing = Alert{
	Name:      "InformerAuditsMissing",
	Objective: catalog.Objectives.AuditsMissing,
	Reason:    "only the check is missing; the cache itself may be correct",
	labels:    ofInformer,
	// Compares two instants instead of a range of six hours, which would read a thousand times as many samples. Audits that fail twice in
	// half an hour and resources that cannot be watched have their own alerts.
	expr: completedAudits + `))
==
` + completedAudits + ` offset $window))
unless on (@cluster, @namespace, @job, informer_type)
informer_exporter_kind_up{@} == 0
unless
max by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (` + prom.Occurred(`k8s_informer_audits_total{@, result="error"}`, "30m") + `) >= 2
`,
	summary: "No audits of " + informerIn + ".",
	description: "No audit of the {{ $labels.informer_type }} informer in " + program +
		" has been completed for more than $window. The consistency of its cache is unknown.",
	Runbook: Runbook{
		Meaning: "Audits are enabled, but no process of the program has completed an audit of this cache for $window: each was skipped or failed, or none was started. InformerAuditsFail covers audits that fail twice in half an hour. Audits are skipped while the watch is down, if the cache changes faster than it can be read, and if the API server does not list at exact versions.",
		Impact:  "A cache that is inconsistent with the API server goes undetected, and InformerCacheDiffers cannot fire. Controllers are not affected.",
		Commands: []Step{
			listPods,
			replicaLog("audit|lease|leader"),
			restartProgram.because("If none is started although a replica is the leader: save a goroutine dump, then restart."),
		},
		Queries: []Step{
			{"Audits by result. Only `skipped`: see the causes. No result: none was started.", `sum by (@pod, result) (` + prom.Occurred(`k8s_informer_audits_total{@, `+ofThisProgram+ofThisInformer+`}`, "1h") + `) > 0`},
			{"Leaders, if the program audits with leader election.", `max by (lock, @pod) (controller_leader{@, ` + inThisCluster + `})`},
			{"Changes per second. At hundreds, the cache may change during every audit.", `sum by (@pod) (rate(k8s_informer_watch_events_total{@, ` + ofThisProgram + ofThisInformer + `, type!="bookmark"}[15m]))`},
		},
		Causes: []string{
			"No leader: see InformerExporterLeaderMissing and ControllerLeaderMissing.",
			"An aggregated API server that does not list at exact versions, or a cache that changes all the time: disable audits of this program or resource.",
			"Audits fail, but seldom, because their interval is long or a list never ends: the error is in the log at level debug, `audit failed`.",
			"The interval of audits is longer than $window: raise `window` of the objective `audits_missing`.",
		},
		Resolves: "with the next completed audit: the first query has the result `consistent` or `different`.",
		Escalate: controllerTeam,
	},
}

var informerCacheMutated = Alert{
	Name:      "InformerCacheMutated",
	Objective: catalog.Objectives.CacheMutations,
	Reason:    "a bug in the program; the fix needs a new release",
	labels:    ofProcess,
	expr:      `(` + occurred(`k8s_informer_mutations_total{@}`) + `) > $threshold`,
	summary:   "Cached objects of " + informerIn + " were changed in place.",
	description: someInformer + inProcess + " has objects that were changed in place in the last $window. " +
		"All consumers share cached objects, which must be copied before they are changed.",
	Runbook: Runbook{
		Meaning: "The library samples a few cached objects. One of them changed although neither the object nor its resource version was replaced: code in this process wrote to it. Other objects are probably affected as well.",
		Impact:  "All readers of the cache see a state that the API server never had. Comparisons with the desired state are wrong, indexes no longer match, and concurrent access to a map crashes the process.",
		Commands: []Step{
			podLog("modified in place").because("Find the objects in the log."),
			rollouts,
			restartPod.because("Restart the process, which repairs the cache until the code runs again."),
		},
		Queries: []Step{
			{"Affected programs and resources.", `sum by (name, informer_type) (` + prom.Occurred(`k8s_informer_mutations_total{@, `+inThisCluster+`}`, "24h") + `) > 0`},
			{"Damage that audits found.", `sum by (difference) (k8s_informer_audit_differences{@, ` + ofThisProcess + ofThisInformer + `}) > 0`},
		},
		Causes: []string{
			"Code changes an object from a lister, a store or an event handler without `DeepCopy`. This includes setting labels, annotations and defaults, and sorting slices.",
			"To find it, run the tests of the program with `-race` and `KUBE_CACHE_MUTATION_DETECTOR=true`, which ends the process with a diff.",
		},
		Resolves: "$window after the last mutation that was found.",
		Escalate: controllerTeam,
	},
}
