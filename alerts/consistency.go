package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var informerVersionRegression = Alert{
	Name:      "InformerVersionRegression",
	Objective: catalog.VersionRegressions,
	labels:    ofProcess,
	expr:      `increase(k8s_informer_resource_version_regressions_total{@}[$window]) > $threshold`,
	summary:   someInformer + " was given resourceVersions that went back.",
	description: someInformer + ` on {{ $labels.@instance }} received {{ $value | printf "%.0f" }} resourceVersions in $window that were lower than one before; it must not happen. ` +
		"etcd was restored to an earlier state, or the client reached another cluster.",
	Runbook: Runbook{
		Meaning: "The resourceVersion of a list or an event was lower than one that the informer had received before. An API server takes it from etcd's revision, which only rises.",
		Impact:  "Changes that controllers acted on have been undone behind their backs. Caches that have not listed again hold objects that no longer exist, and their watches may skip changes until the versions have caught up. Controllers that compare versions stop working.",
		Diagnosis: []Step{
			{"Is it every informer, or one program?", `sum by (@cluster, name, informer_type) (increase(k8s_informer_resource_version_regressions_total{@}[1h])) > 0`},
			{"Which informers have listed again since?", `sum by (@cluster, name, informer_type, reason) (increase(k8s_informer_relists_total{@}[1h])) > 0`},
			{"Was etcd restored from a backup? Ask who did, and look for `snapshot restore` in the change log. Does the load balancer before the API server reach servers of another cluster?", ""},
		},
		Mitigation: []string{
			"After a restore, restart every controller, and kubelets and kube-proxies too, so that each lists again: an informer whose watch was merely resumed does not know. Restoring with `etcdutl snapshot restore --bump-revision --mark-compacted` makes this unnecessary.",
			"Take a wrong server out of the load balancer, then restart the controllers that reached it.",
			"The resources of an aggregated API server with its own storage are outside of this rule.",
		},
	},
}

var informerTransformDrops = Alert{
	Name:      "InformerTransformDrops",
	Objective: catalog.TransformDrops,
	labels:    ofProcess,
	expr:      `increase(k8s_informer_transform_drops_total{@}[$window]) > $threshold`,
	summary:   someInformer + " drops objects in its Transform function.",
	description: someInformer + ` on {{ $labels.@instance }} dropped {{ $value | printf "%.0f" }} objects in $window because its Transform function returned {{ $labels.cause }}. ` +
		"They are missing from the cache of everybody who shares the informer.",
	Runbook: Runbook{
		Meaning: "The function that SetTransform or the factory was given returned an error or nil for an object. client-go logs it and goes on without the object. During a LIST an error fails the whole list.",
		Impact:  "The object is missing from the cache, or an old state of it stays there, for every user of the informer and without an error on any read. An object whose deletion is dropped stays in the cache.",
		Diagnosis: []Step{
			{"Which informers, and why?", `sum by (@cluster, name, informer_type, cause) (increase(k8s_informer_transform_drops_total{@}[1h])) > 0`},
			{"The objects are in the log of the process: search for `Unable to add watch event object to store`.", ""},
			{"Was the function replaced by another one?", `sum by (@cluster, name, informer_type) (increase(k8s_informer_transform_conflicts_total{@}[1d])) > 0`},
		},
		Mitigation: []string{
			"A Transform function must return an object for every object, and accept `cache.DeletedFinalStateUnknown`.",
			"To leave objects out, use a label or field selector: the server then does not send them.",
		},
	},
}
