package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var informerCacheDiffers = Alert{
	Name:      "InformerCacheDiffers",
	Objective: catalog.CacheDiffers,
	labels:    ofProcess,
	// The gauge holds what two audits in a row have found, so there is nothing to wait for.
	expr:    `k8s_informer_audit_differences{@} > $threshold`,
	summary: someInformer + " has a cache that differs from the API server.",
	description: `{{ $value }} objects in the cache of the {{ $labels.informer_type }} informer of {{ $labels.name }}` + inCluster +
		" on {{ $labels.@instance }} differ from the API server ({{ $labels.kind }}), as two audits in a row have found at the cache's own resourceVersion. " +
		"This is not lag: it does not go away by itself.",
	Runbook: Runbook{
		Meaning: "An audit compares each object of the cache with the API server at exactly the resourceVersion that the cache has, so that changes which are merely late do not count. Two audits in a row have found the same differences. `missing`: the API server has the object, the cache has not. `extra`: the other way round. `stale`: another resourceVersion. `wrong_uid`: the cache has an object that was deleted and created again under its name. `index`: reads through an index return other objects than they should. `key_collision`: objects overwrite each other because they have the same key.",
		Impact:  "Controllers that read this cache act on objects that do not exist, or do not see objects that do, until the next full list of this process: often its restart.",
		Diagnosis: []Step{
			{"Which processes? One of several is damage in that process; all of them alike are code that they share, or the API server.", `sum by (@cluster, name, @instance, informer_type, kind) (k8s_informer_audit_differences{@}) > 0`},
			{"Since when, and did a lost watch come before it?", `sum by (@cluster, name, @instance, informer_type, reason) (increase(k8s_informer_watch_disconnects_total{@}[1h])) > 0`},
			{"What else do the audits say?", `sum by (@cluster, name, @instance, informer_type, result) (increase(k8s_informer_audits_total{@}[1h])) > 0`},
			{"Which objects? The process has logged some of them: \"The cache differs from the API server\".", ""},
		},
		Mitigation: []string{
			"Restart the process that is affected: it takes in a full list. Before that, save its log and, if there is one, a heap profile.",
			"`index`, `stale` or `wrong_uid` in one process: look for code that changes cached objects or writes to the store; objects from a lister must be copied before they are changed.",
			"`missing`: look for a Transform that returns nil or an error for some objects.",
			"`key_collision`: the key function leaves out the namespace, or a Transform changes names.",
			"All replicas, or several programs: compare the API servers with one another; their watch caches may have diverged, for example after etcd was restored. Restart them one by one.",
		},
	},
}

var informerAuditsFail = Alert{
	Name:      "InformerAuditsFail",
	Objective: catalog.AuditsFail,
	labels:    ofProcess,
	// Those that are skipped do not count: that the cache changes all the time, or that the server cannot list at exact
	// versions, is no failure, and a watch that is down is InformerWatchDown.
	expr: `
sum by (@cluster, @job, @instance, name, informer_type, watch_namespace) (increase(k8s_informer_audits_total{@, result="error"}[$window])) >= $count
unless
sum by (@cluster, @job, @instance, name, informer_type, watch_namespace) (increase(k8s_informer_audits_total{@, result=~"consistent|different"}[$window])) > 0
`,
	summary: someInformer + " cannot be audited.",
	description: `{{ $value | printf "%.0f" }} audits of the {{ $labels.informer_type }} informer of {{ $labels.name }}` + inCluster +
		" on {{ $labels.@instance }} have failed in $window, and none has succeeded. Whether its cache is right is not known.",
	Runbook: Runbook{
		Meaning: "Audits are on, at least $count of them have failed within $window, and none was completed. An audit lists at the resourceVersion that the cache has. The API server refuses that if it has not reached the version, which is so after etcd was restored to an older state: then the watch stays up and freshness checks find nothing, because all of them wait for versions to come.",
		Impact:  "None, if it is only the lists of audits that fail. After a restore the cache has objects and versions that no longer exist, and controllers act on them until the next full list.",
		Diagnosis: []Step{
			{"Which informers? All of a cluster point at etcd or the API server, one kind at its list.", `sum by (@cluster, name, @instance, informer_type) (increase(k8s_informer_audits_total{@, result="error"}[30m])) > 0`},
			{"Has any informer listed since, and seen that versions went back? Then etcd was restored, or the client has reached another cluster.", `sum by (@cluster, name, informer_type) (increase(k8s_informer_resource_version_regressions_total{@}[1h])) > 0`},
			{"Do lists and watches of the informer itself fail too?", `sum by (@cluster, name, informer_type, error_type) (increase(k8s_informer_sync_errors_total{@}[30m])) > 0`},
			{"How long do audits take where they succeed? A page of 500 objects has 30 seconds.", `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type) (rate(k8s_informer_audit_duration_seconds_bucket{@}[1d])))`},
			{"What is the error? The process logs it at the level debug: \"An audit failed\".", ""},
		},
		Mitigation: []string{
			"etcd was restored: restart every process that keeps a cache of this cluster, the API servers first. A new process lists everything.",
			"Lists time out: the API server is overloaded, or objects are very large; audit less often.",
			"Lists are throttled: a flow schema of its own for the program.",
		},
	},
}

var informerCacheMutated = Alert{
	Name:      "InformerCacheMutated",
	Objective: catalog.CacheMutations,
	labels:    ofProcess,
	expr:      `increase(k8s_informer_mutations_total{@}[$window]) > $threshold`,
	summary:   someInformer + " has a cache that a consumer changes.",
	description: someInformer + " on {{ $labels.@instance }} holds objects that were changed in place in the last $window. " +
		"Cached objects belong to every consumer and must be copied before they are changed.",
	Runbook: Runbook{
		Meaning: "A few objects of the cache are looked at again and again. One of them has changed although neither the object nor its resourceVersion was replaced: code in this process has written to it. Only a sample is looked at, so that there are probably more.",
		Impact:  "Every other reader of the cache sees a state that the API server never had. Comparisons with the desired state come out wrong, indexes no longer agree with the objects, and a map that is written while another goroutine reads it ends the process.",
		Diagnosis: []Step{
			{"Which kinds, and in which programs?", `sum by (@cluster, name, informer_type) (increase(k8s_informer_mutations_total{@}[1d])) > 0`},
			{"Which objects? The process has logged them: \"A consumer has changed a cached object\".", ""},
			{"Do audits see damage too?", `sum by (@cluster, name, informer_type, kind) (k8s_informer_audit_differences{@}) > 0`},
		},
		Mitigation: []string{
			"Find the code: run its tests with `-race` and client-go's `KUBE_CACHE_MUTATION_DETECTOR=true`, which ends the process with a diff at the first change.",
			"Call `DeepCopy` on what a lister, an informer's store or an event handler hands out, before changing it. That includes setting labels, annotations and defaults, and sorting slices.",
			"A restart mends the cache until the code runs again.",
		},
	},
}
