package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var informerVersionRegression = Alert{
	Name:      "InformerVersionRegression",
	Objective: catalog.Objectives.VersionRegressions,
	labels:    ofProcess,
	expr:      `increase(k8s_informer_resource_version_regressions_total{@}[$window]) > $threshold`,
	summary:   someInformer + ": resource versions went backwards.",
	description: someInformer + ` on {{ $labels.@instance }} received {{ $value | printf "%.0f" }} resource versions in $window that were lower than an earlier one. ` +
		"etcd was restored to an earlier state, or the client reached another cluster.",
	Runbook: Runbook{
		Meaning: "A list or an event had a lower resource version than one that the informer received before. The API server derives resource versions from the revision of etcd, which only increases. Aggregated APIs whose resource versions are not numbers are not covered.",
		Impact:  "Changes that controllers acted on have been undone. Caches that have not listed again have objects that no longer exist, and their watches may skip changes until the versions have caught up. Controllers that compare versions misbehave.",
		Diagnosis: []Step{
			{"Check whether all informers are affected, or one program.", `sum by (@cluster, name, informer_type) (increase(k8s_informer_resource_version_regressions_total{@}[1h])) > 0`},
			{"Find the informers that have listed again since.", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_relists_total{@}[1h])) > 0`},
			{"Check whether etcd was restored from a backup: search the change log for `snapshot restore`. Check whether the load balancer of the API server reaches servers of another cluster.", ""},
		},
		Mitigation: []string{
			"After a restore, restart all controllers, kubelets and kube-proxies, so that each lists again: an informer that only resumed its watch does not notice. Restoring with `etcdutl snapshot restore --bump-revision 1000000000 --mark-compacted` makes this unnecessary.",
			"Remove the wrong server from the load balancer, then restart the controllers that reached it.",
		},
	},
}

var informerTransformDrops = Alert{
	Name:      "InformerTransformDrops",
	Objective: catalog.Objectives.TransformDrops,
	labels:    ofProcess,
	expr:      `increase(k8s_informer_transform_drops_total{@}[$window]) > $threshold`,
	summary:   "The transform of informer {{ $labels.informer_type }} of {{ $labels.name }}" + inCluster + " drops objects.",
	description: someInformer + ` on {{ $labels.@instance }} dropped {{ $value | printf "%.0f" }} objects in $window because its transform returned {{ $labels.cause }}. ` +
		"They are missing from the cache for all users of the informer.",
	Runbook: Runbook{
		Meaning: "The transform given to SetTransform or to the factory returned an error or nil for an object. client-go logs it and continues without the object. During a LIST, an error fails the whole list.",
		Impact:  "The object is missing from the cache, or remains in an old state, for every user of the informer and without an error on reads. An object whose deletion is dropped remains in the cache.",
		Diagnosis: []Step{
			{"Find the informers and the cause.", `sum by (@cluster, name, informer_type, cause) (increase(k8s_informer_transform_drops_total{@}[1h])) > 0`},
			{"Find the objects in the log of the process: search for `Unable to add watch event object to store`.", ""},
			{"Check whether one transform replaced another.", `sum by (@cluster, name, informer_type) (increase(k8s_informer_transform_conflicts_total{@}[1d])) > 0`},
		},
		Mitigation: []string{
			"A transform must return an object for every input, and accept `cache.DeletedFinalStateUnknown`.",
			"To exclude objects, use a label or field selector: the server then does not send them.",
		},
	},
}
