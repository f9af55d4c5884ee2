package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var informerCacheDiffers = Alert{
	Name:      "InformerCacheDiffers",
	Objective: catalog.Objectives.CacheDiffers,
	labels:    ofProcess,
	// The gauge counts only differences that two consecutive audits found, so the rule needs no for.
	expr:    `k8s_informer_audit_differences{@} > $threshold`,
	summary: "The cache of informer {{ $labels.informer_type }} of {{ $labels.name }}" + inCluster + " is inconsistent with the API server.",
	description: `{{ $value }} objects in the cache of the {{ $labels.informer_type }} informer of {{ $labels.name }}` + inCluster +
		" on {{ $labels.@instance }} are inconsistent with the API server ({{ $labels.kind }}), confirmed by two audits at the cache's own resource version. " +
		"This is not lag and does not resolve by itself.",
	Runbook: Runbook{
		Meaning: "An audit compares every object of the cache with the API server at exactly the resource version of the cache, so that late changes do not count. Two consecutive audits found the same differences. `missing`: the API server has the object, the cache does not. `extra`: the reverse. `stale`: another resource version. `wrong_uid`: an object that was deleted and created again under the same name. `index`: an index returns wrong objects. `key_collision`: objects overwrite each other because they have the same key.",
		Impact:  "Controllers that read this cache act on objects that do not exist, or do not see objects that do, until the process lists again, often not before it restarts.",
		Diagnosis: []Step{
			{"Find the processes. If only one of several is affected, suspect that process; if all of them are, suspect shared code or the API server.", `sum by (@cluster, name, @instance, informer_type, kind) (k8s_informer_audit_differences{@}) > 0`},
			{"Check since when, and whether a disconnect preceded it.", `sum by (@cluster, name, @instance, informer_type, reason) (increase(k8s_informer_watch_disconnects_total{@}[1h])) > 0`},
			{"Check the results of other audits.", `sum by (@cluster, name, @instance, informer_type, result) (increase(k8s_informer_audits_total{@}[1h])) > 0`},
			{"Find the objects. The process logs some of them: `cache is inconsistent with the API server`.", ""},
		},
		Mitigation: []string{
			"Restart the affected process, which lists everything again. Before that, save its log and, if available, a heap profile.",
			"`index`, `stale` or `wrong_uid` in one process: find the code that changes cached objects or writes to the store. Objects from a lister must be copied before they are changed.",
			"`missing`: check for a transform that returns nil or an error for some objects.",
			"`key_collision`: the key function omits the namespace, or a transform changes names.",
			"All replicas, or several programs: compare the API servers. Their watch caches may have diverged, for example after etcd was restored. Restart them one by one.",
		},
	},
}

var informerAuditsFail = Alert{
	Name:      "InformerAuditsFail",
	Objective: catalog.Objectives.AuditsFail,
	labels:    ofProcess,
	// Skipped audits do not count. The cache may change all the time, or the server may not list at exact versions;
	// InformerWatchDown covers a watch that is down.
	expr: `
sum by (@cluster, @job, @instance, name, informer_type, watch_namespace) (increase(k8s_informer_audits_total{@, result="error"}[$window])) >= $count
unless
sum by (@cluster, @job, @instance, name, informer_type, watch_namespace) (increase(k8s_informer_audits_total{@, result=~"consistent|different"}[$window])) > 0
`,
	summary: "Audits of informer {{ $labels.informer_type }} of {{ $labels.name }}" + inCluster + " fail.",
	description: `{{ $value | printf "%.0f" }} audits of the {{ $labels.informer_type }} informer of {{ $labels.name }}` + inCluster +
		" on {{ $labels.@instance }} have failed in $window, and none has succeeded. The consistency of its cache is unknown.",
	Runbook: Runbook{
		Meaning: "Audits are enabled, at least $count of them have failed within $window, and none was completed. An audit lists at the resource version of the cache. The API server rejects that if it has not reached this version, as after etcd was restored to an older state. The watch then stays up and freshness checks find nothing, because all of them wait for future versions.",
		Impact:  "None, if only the lists of audits fail. After a restore, the cache has objects and versions that no longer exist, and controllers act on them until the next full list.",
		Diagnosis: []Step{
			{"Find the informers. If all informers of a cluster are affected, suspect etcd or the API server; if one resource is, check its lists.", `sum by (@cluster, name, @instance, informer_type) (increase(k8s_informer_audits_total{@, result="error"}[30m])) > 0`},
			{"Check whether informers listed since and saw lower resource versions. If so, etcd was restored, or the client reached another cluster.", `sum by (@cluster, name, informer_type) (increase(k8s_informer_resource_version_regressions_total{@}[1h])) > 0`},
			{"Check whether lists and watches of the informer fail too.", `sum by (@cluster, name, informer_type, error_type) (increase(k8s_informer_sync_errors_total{@}[30m])) > 0`},
			{"Check the duration of successful audits. A page of 500 objects has 30 seconds.", `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type) (rate(k8s_informer_audit_duration_seconds_bucket{@}[1d])))`},
			{"Find the error. The process logs it at level debug: `audit failed`.", ""},
		},
		Mitigation: []string{
			"etcd was restored: restart every process that caches this cluster, the API servers first. A new process lists everything.",
			"Lists time out: the API server is overloaded, or objects are very large. Audit less often.",
			"Lists are throttled: give the program its own flow schema.",
		},
	},
}

var informerCacheMutated = Alert{
	Name:      "InformerCacheMutated",
	Objective: catalog.Objectives.CacheMutations,
	labels:    ofProcess,
	expr:      `increase(k8s_informer_mutations_total{@}[$window]) > $threshold`,
	summary:   "Cached objects of informer {{ $labels.informer_type }} of {{ $labels.name }}" + inCluster + " were changed in place.",
	description: someInformer + " on {{ $labels.@instance }} has objects that were changed in place in the last $window. " +
		"All consumers share cached objects, which must be copied before they are changed.",
	Runbook: Runbook{
		Meaning: "The library samples a few objects of the cache repeatedly. One of them changed although neither the object nor its resource version was replaced: code in this process wrote to it. Only a sample is checked, so there are probably more.",
		Impact:  "All readers of the cache see a state that the API server never had. Comparisons with the desired state are wrong, indexes no longer match their objects, and a map that is written while another goroutine reads it ends the process.",
		Diagnosis: []Step{
			{"Find the resources and programs.", `sum by (@cluster, name, informer_type) (increase(k8s_informer_mutations_total{@}[1d])) > 0`},
			{"Find the objects. The process has logged them: \"A consumer has changed a cached object\".", ""},
			{"Check whether audits find damage too.", `sum by (@cluster, name, informer_type, kind) (k8s_informer_audit_differences{@}) > 0`},
		},
		Mitigation: []string{
			"Find the code: run its tests with `-race` and client-go's `KUBE_CACHE_MUTATION_DETECTOR=true`, which ends the process with a diff at the first change.",
			"Call `DeepCopy` on objects from a lister, an informer's store or an event handler before changing them. This includes setting labels, annotations and defaults, and sorting slices.",
			"A restart repairs the cache until the code runs again.",
		},
	},
}
