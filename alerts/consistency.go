package alerts

import (
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

var informerVersionRegression = Alert{
	Name:      "InformerVersionRegression",
	Objective: catalog.Objectives.VersionRegressions,
	Reason:    "etcd has an older state: every cache of the cluster may be inconsistent with it",
	labels:    ofProcess,
	expr:      `(` + occurred(`k8s_informer_resource_version_regressions_total{@}`) + `) > $threshold`,
	summary:   someInformer + ": resource versions went backwards.",
	description: someInformer + inProcess + ` received {{ $value | printf "%.0f" }} resource versions in $window that were lower than an earlier one. ` +
		"etcd was restored to an earlier state, or the client reached another cluster.",
	Runbook: Runbook{
		Meaning: "A list or an event had a lower resource version than an earlier one. The API server derives resource versions from the revision of etcd, which only increases: etcd was restored, or the client reached another cluster.",
		Impact:  "Changes that controllers acted on have been undone. Caches that have not relisted have objects that no longer exist, and their watches may skip changes until the versions have caught up.",
		Commands: []Step{
			apiServers,
			readyz,
			restartPod.because("Once the backend is correct again, restart the process. Repeat for each affected process."),
		},
		Queries: []Step{
			{"Affected processes. One program: its path to the API server. All: etcd.", `sum by (@namespace, @pod, name, informer_type) (` + prom.Occurred(`k8s_informer_resource_version_regressions_total{@, `+inThisCluster+`}`, "1h") + `) > 0`},
			{"Informers that have relisted since, and are correct again.", `sum by (@namespace, @pod, name, informer_type, reason) (` + prom.Occurred(`k8s_informer_relists_total{@, `+inThisCluster+`}`, "1h") + `) > 0`},
		},
		Causes: []string{
			"etcd was restored from a backup: restart all controllers, kubelets and kube-proxies, so that each lists again. A restore with `etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted` makes this unnecessary.",
			"The load balancer of the API server routes to a server of another cluster: remove that server, then restart the affected programs.",
		},
		Resolves: "$window after the last regression: the first query, with that window, is empty. Caches that have not relisted are still wrong.",
		Escalate: apiServerTeam,
	},
}

var informerStaleAfterRestart = Alert{
	Name:      "InformerStaleAfterRestart",
	Objective: catalog.Objectives.VersionsBehind,
	Reason:    "one cache is stale; if etcd was restored to an older state, InformerVersionRegression pages",
	labels:    ofProcess,
	gauge:     true,
	// A process does not know which versions its predecessor received. A series of the same target is compared with its own
	// earlier values; the series of a new Pod, for its first hour, with the series of all replicas. Version 0 means that no version is
	// known. A process that saw the versions go backwards has counted a regression, and is excluded.
	expr: `
max without (stage) (
  max_over_time(k8s_informer_resource_version{@, stage="received"}[1h:5m] offset $window)
  - (k8s_informer_resource_version{@, stage="received"} > 0) > $threshold
  or
  max by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (max_over_time(k8s_informer_resource_version{@, stage="received"}[1h:5m] offset $window))
  - on (@cluster, @namespace, @job, name, informer_type, watch_namespace) group_right ()
  (k8s_informer_resource_version{@, stage="received"} > 0 unless k8s_informer_resource_version{@, stage="received"} offset 1h) > $threshold
)
unless
last_over_time(k8s_informer_resource_version_regressions_total{@}[10m:5m]) > 0
`,
	summary: someInformer + " received lower resource versions than before a restart.",
	description: someInformer + inProcess + ` has been {{ $value | printf "%.0f" }} resource versions behind the last one received before a restart of the program, for more than $for. ` +
		"The API server or etcd has an older state.",
	Runbook: Runbook{
		Unless:  "etcd was restored, or controllers act on objects that no longer exist",
		Meaning: "A process restarted and, for $for, its last received resource version has been below the one that the program had more than $window ago. Resource versions only increase. InformerVersionRegression detects a decrease within a process.",
		Impact:  "The cache holds an older state of the cluster: controllers act on outdated objects.",
		Commands: []Step{
			apiServers,
			readyz,
			restartPod.because("Once the API server is up to date, restart the process, so that it lists again."),
		},
		Queries: []Step{
			{"Compare the versions of all replicas. If one is behind the others, its API server is stale; if all are, etcd is.", `max by (@pod, @instance) (k8s_informer_resource_version{@, ` + ofThisProgram + ofThisInformer + `, stage="received"})`},
			{"Check other programs: received versions in this cluster that are below the versions of an hour ago.", `max by (@namespace, @pod, name, informer_type) (k8s_informer_resource_version{@, ` + inThisCluster + `, stage="received"} < k8s_informer_resource_version{@, ` + inThisCluster + `, stage="received"} offset 1h)`},
			{"State of the watch. A stale list without events keeps its version.", `k8s_informer_watch_connected{@, ` + ofThisProcess + ofThisInformer + `}`},
		},
		Causes: []string{
			"etcd was restored from a backup: see InformerVersionRegression, and restart all controllers, kubelets and kube-proxies.",
			"One API server does not receive changes from etcd, and answers lists from its old watch cache: restart this API server, then the process.",
			"The program, or its load balancer, connects to another cluster. If that is intended, give the programs of each cluster their own name.",
		},
		Resolves: "when the version has caught up, and no later than an hour and $window after the restart.",
		Escalate: apiServerTeam,
	},
}

var informerTransformDrops = Alert{
	Name:      "InformerTransformDrops",
	Objective: catalog.Objectives.TransformDrops,
	Reason:    "a bug in the program; the fix needs a new release",
	labels:    ofProcess,
	expr:      `(` + occurred(`k8s_informer_transform_drops_total{@}`) + `) > $threshold`,
	summary:   "The transform of " + informerIn + " drops objects.",
	description: someInformer + inProcess + ` dropped {{ $value | printf "%.0f" }} objects in $window because its transform returned an error or nil (cause: {{ $labels.cause }}). ` +
		"They are missing from the cache for all users of the informer.",
	Runbook: Runbook{
		Meaning: "The transform of this informer returned an error or nil for an object. client-go logs it and continues without the object. During a list, an error fails the whole list.",
		Impact:  "The object is missing from the cache, or remains in an old state, for every user of the informer and without an error on reads. An object remains in the cache if its deletion is dropped.",
		Commands: []Step{
			podLog("unable to .* watch event object|transform"),
			countObjects.because("Count the objects, to compare with `k8s_informer_objects`: the difference is missing from the cache."),
			rollouts,
		},
		Queries: []Step{
			{"Affected processes and the cause.", `sum by (@namespace, @pod, name, informer_type, cause) (` + prom.Occurred(`k8s_informer_transform_drops_total{@, `+inThisCluster+`}`, "1h") + `) > 0`},
			{"Transforms that replaced each other.", `sum(` + prom.Occurred(`k8s_informer_transform_conflicts_total{@, `+ofThisProcess+ofThisInformer+`}`, "24h") + `) > 0`},
		},
		Causes: []string{
			"A transform must return an object for every input, and accept `cache.DeletedFinalStateUnknown`.",
			"To exclude objects, use a label or field selector: the server then does not send them.",
		},
		Resolves: "$window after the last dropped object.",
		Escalate: controllerTeam,
	},
}

var informerTransformReplaced = Alert{
	Name:      "InformerTransformReplaced",
	Objective: catalog.Objectives.TransformConflicts,
	Reason:    "a bug in the program; the fix needs a new release",
	labels:    ofProcess,
	expr:      `k8s_informer_transform_conflicts_total{@} > $threshold`,
	summary:   "The transform of " + informerIn + " was replaced by another.",
	description: someInformer + inProcess + ` has had its transform replaced {{ $value | printf "%.0f" }} times since the start of the process. ` +
		"Only the last transform applies, for all users of the informer.",
	Runbook: Runbook{
		Meaning: "Code called `SetTransform` on an informer that already had a transform, as two controllers with one shared informer do. client-go accepts the call without an error and uses only the last transform.",
		Impact:  "The cache lacks what the last transform drops, for every user of the informer: fields, or whole objects. What the first transform was meant to do is not done. Reads return no error.",
		Commands: []Step{
			podLog("transform").because("Find who set the first and the second transform: the log has both call sites."),
			countObjects.because("Count the objects, to compare with `k8s_informer_objects`: the difference is missing from the cache."),
			rollouts,
		},
		Queries: []Step{
			{"Affected processes and informers.", `max by (@namespace, @pod, name, informer_type) (k8s_informer_transform_conflicts_total{@, ` + inThisCluster + `}) > 0`},
			{"Objects in the cache.", `k8s_informer_objects{@, ` + ofThisProcess + ofThisInformer + `}`},
		},
		Causes: []string{
			"Set one transform for all users of the informer, where the factory is created: `informers.WithTransform`, or `cache.Options.DefaultTransform` in controller-runtime.",
			"Two controllers need different transforms: give each its own factory, or keep the fields that either of them reads.",
		},
		Resolves: "when the process restarts without the second call.",
		Escalate: controllerTeam,
	},
}

var informerTransformShared = Alert{
	Name:      "InformerTransformShared",
	Objective: catalog.Objectives.TransformShared,
	Reason:    "usual and often intended; explains fields that a controller does not find",
	labels:    ofInformer,
	expr: `
max by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (k8s_informer_transforms{@}) > $threshold
and
max by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (k8s_informer_handlers{@}) > 1
`,
	summary: "Several handlers in " + program + " share one transform of {{ $labels.informer_type }}.",
	description: "The {{ $labels.informer_type }} informer in " + program + " has a transform and several handlers. " +
		"All of them, and all readers of the cache, get the transformed objects.",
	Runbook: Runbook{
		Meaning: "A transform is set on an informer with more than one handler. Each handler and reader gets the objects that the transform returns.",
		Impact:  "None if all users can do without what the transform removes. Otherwise, one of them works on incomplete objects, or writes them back without these fields.",
		Commands: []Step{
			listPods,
			replicaLog("transform").because("Find who set the transform, and which handlers share it."),
			rollouts,
		},
		Queries: []Step{
			{"Handlers of the informer.", `count by (handler) (k8s_informer_handler_pending_events{@, ` + ofThisProgram + ofThisInformer + `})`},
			{"Transforms that were replaced by another.", `max by (@pod) (k8s_informer_transform_conflicts_total{@, ` + ofThisProgram + ofThisInformer + `})`},
		},
		Causes: []string{
			"A transform for the whole program that removes `managedFields` is the usual case, and needs no action.",
			"A transform for one controller that removes what others read: give that controller its own factory.",
		},
		Resolves: "when the informer has no transform, or one handler. To leave it out, see `disabled` in the generator's configuration.",
		Escalate: controllerTeam,
	},
}

var informerForeignObjects = Alert{
	Name:      "InformerForeignObjects",
	Objective: catalog.Objectives.ForeignObjects,
	Reason:    "a bug in the program; the fix needs a new release",
	labels:    ofProcess,
	keep:      10 * time.Minute,
	// Most of these objects are in the first list, which is often complete before the first scrape.
	expr:    `(` + occurred(`k8s_informer_foreign_objects_total{@}`) + `) > $threshold`,
	summary: "Informer {{ $labels.informer_type }} of " + program + " receives objects from other namespaces.",
	description: someInformer + inProcess + ` received {{ $value | printf "%.0f" }} objects in $window ` +
		"that are not in namespace {{ $labels.watch_namespace }}. Its filter has no effect.",
	Runbook: Runbook{
		Meaning: "The informer is limited to one namespace, but its lists or watches return objects from other namespaces.",
		Impact:  "Controllers act on objects of other tenants, within the permissions of the program. The cache needs the memory of all namespaces.",
		Commands: []Step{
			podLog("list|watch|namespace").because("Look for the requests of the informer in the log."),
			{"Look for the namespace in its flags and environment variables.", `kubectl -n "$NAMESPACE" get pod "$POD" -o yaml | grep -iE 'watch.?namespace|-namespace'`},
			mayList.because("Check whether the program may list all namespaces. If it needs only one, a Role in place of the ClusterRole turns this problem into an error."),
		},
		Queries: []Step{
			{"Affected processes and informers. One informer: its ListerWatcher. All informers of a process: its client or a proxy.", `sum by (@namespace, @pod, name, informer_type, watch_namespace) (` + prom.Occurred(`k8s_informer_foreign_objects_total{@, `+inThisCluster+`}`, "1h") + `) > 0`},
			{"Objects in the cache.", `k8s_informer_objects{@, ` + ofThisProcess + ofThisInformer + `}`},
		},
		Causes: []string{
			"A ListerWatcher that filters with a selector or an option that the API server ignores: use the namespace of the client, as in `client.CoreV1().ConfigMaps(namespace)`.",
			"The namespace of the informer's ID is not the one that its ListerWatcher requests: correct the ID.",
			"A proxy in front of the API server that rewrites or caches paths.",
		},
		Resolves: "after $window without such objects, plus 10 minutes. Objects that are in the cache remain until the next list without them.",
		Escalate: controllerTeam,
	},
}

var informerDuplicated = Alert{
	Name:      "InformerDuplicated",
	Objective: catalog.Objectives.Duplicates,
	Reason:    "a duplicate costs memory and a watch, but breaks nothing",
	labels:    ofInformer,
	expr:      `max by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (k8s_informer_duplicates{@}) > $threshold`,
	summary:   "Duplicate {{ $labels.informer_type }} informers of " + program + ".",
	description: "A process of " + program + " has {{ $value }} informers that watch the same {{ $labels.informer_type }} " +
		"in the same namespaces as another one.",
	Runbook: Runbook{
		Meaning: "A process has had more than one informer on the same resource and namespace for $for. Informers with different selectors count as well, although they may be intended.",
		Impact:  "Each duplicate costs a watch, and the memory of a second cache.",
		Commands: []Step{
			listPods,
			podUsage,
			countObjects.because("Count the objects, to see what a second cache costs."),
		},
		Queries: []Step{
			{"Duplicates of this program.", `max by (informer_type, watch_namespace) (k8s_informer_duplicates{@, ` + ofThisProgram + `}) > 0`},
			{"Programs with the most duplicates.", `topk(10, sum by (@namespace, name) (max by (@namespace, name, informer_type, watch_namespace) (k8s_informer_duplicates{@, ` + inThisCluster + `})))`},
		},
		Causes: []string{
			"Several factories: share one between all controllers of a program.",
			"controller-runtime caches the same kind once as a typed object, once as unstructured and once as metadata: read it in one form everywhere.",
			"Selectors differ on purpose: disable the alert (`disabled` in the generator's configuration).",
		},
		Resolves: "when one informer is left: the first query is empty.",
		Escalate: controllerTeam,
	},
}

var informerOrphaned = Alert{
	Name:        "InformerOrphaned",
	Objective:   catalog.Objectives.Orphans,
	Reason:      "a leak in the program; the fix needs a new release",
	labels:      ofInformer,
	expr:        `sum by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (k8s_informer_orphans{@}) > $threshold`,
	summary:     "Orphaned {{ $labels.informer_type }} informers of " + program + ".",
	description: "{{ $value }} {{ $labels.informer_type }} informers of " + program + " have been running for more than $for after they were stopped.",
	Runbook: Runbook{
		Unless:  "the memory of the process is near its limit",
		Meaning: "The context of an informer ended more than $for ago, and the informer still runs: one of its handlers does not return.",
		Impact:  "The goroutines and the cache of the informer are leaked, and a shutdown that waits for it hangs. If informers are started and stopped regularly, as for custom resources, memory grows until the process is OOM-killed.",
		Commands: []Step{
			listPods,
			replicaLog("panic|handler|shutdown"),
			restartProgram.because("Restart all replicas, which frees the memory."),
		},
		Queries: []Step{
			{"Orphans by process: does the number grow?", `sum by (@pod) (k8s_informer_orphans{@, ` + ofThisProgram + ofThisInformer + `}) > 0`},
			{"Handlers that do not return.", `max by (@pod, handler) (k8s_informer_handler_pending_events{@, ` + ofThisProgram + ofThisInformer + `}) > 0`},
		},
		Causes: []string{
			"A handler writes to a channel without a reader, or waits for a lock: a [goroutine dump](" + onCallPage + "#goroutines) shows it below `processorListener`.",
			"A handler makes calls without a timeout: it should only add a key to a queue.",
		},
		Resolves: "when the handler returns, or the process restarts: the first query is empty.",
		Escalate: controllerTeam,
	},
}
