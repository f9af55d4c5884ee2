package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var clusterObjectHeld = Alert{
	Name:      "ClusterObjectHeld",
	Objective: catalog.Objectives.ObjectHeld,
	board:     objectBoard,
	labels:    ofObject,
	expr:      `max by (@cluster, informer_type, namespace, finalizer) (k8s_object_terminating_oldest_seconds{@, informer_type!="namespaces"}) > $threshold`,
	summary:   `{{ $labels.informer_type }}` + inNamespace + ` cannot be deleted.`,
	description: `The oldest of the terminating {{ $labels.informer_type }}` + inNamespace + ` has been blocked by ` +
		`{{ if eq $labels.finalizer "none" }}its node{{ else }}the finalizer {{ $labels.finalizer }}{{ end }} for ` +
		"{{ $value | humanizeDuration }}; the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "An object was deleted more than $objective ago and still exists. A finalizer is an entry in its metadata that a controller must remove first. The finalizer `none` means a Pod past its grace period that the kubelet has not confirmed as terminated. ClusterNamespaceStuck covers Namespaces.",
		Impact:  "`kubectl delete` waits, the Namespace of the object stays `Terminating`, and no object with the same name can be created. External resources of the object, such as volumes and load balancers, continue to cost money.",
		Diagnosis: []Step{
			{"Find the number of objects, their kinds and finalizers. An increasing number means that no controller removes the finalizer.", `sum by (@cluster, informer_type, namespace, finalizer) (max by (@cluster, name, informer_type, namespace, finalizer) (k8s_object_terminating{@})) > 0`},
			{"Find the objects: `kubectl get KIND -A -o json | jq -r '.items[] | select(.metadata.deletionTimestamp) | [.metadata.namespace, .metadata.name, (.metadata.finalizers|tostring)] | @tsv'`", ""},
			{"Find the owner of the finalizer: the part before the slash names the program. Check that its controller runs, and its log for the object.", ""},
			{"If that controller uses the library, check the results of its cleanups.", `sum by (@cluster, name, controller, finalizer, result) (increase(controller_finalizer_attempts_total{@}[15m]))`},
			{"`kubernetes.io/pvc-protection` and `kubernetes.io/pv-protection`: the volume is still in use. `foregroundDeletion`: the object waits for its dependents. Check those.", ""},
			{"Pods without a finalizer: check their node with `kubectl get nodes`, and the Leases of nodes:", `max by (@cluster, purpose, state) (k8s_lease_objects{@})`},
		},
		Mitigation: []string{
			"Restore the controller, or the dependencies of its cleanup: a service, credentials, permissions.",
			"The controller was removed before its objects: install it again, delete the objects, and then remove it.",
			"A node that will not return: delete the Node, or taint it `node.kubernetes.io/out-of-service`, so that its Pods are released.",
			"Only if nothing is left to clean up, remove the finalizer by hand, after checking the index of its entry: `kubectl patch KIND NAME --type=json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers/0\"}]'`.",
		},
	},
}

var clusterNamespaceStuck = Alert{
	Name:      "ClusterNamespaceStuck",
	Objective: catalog.Objectives.NamespaceStuck,
	board:     objectBoard,
	labels:    []string{"cluster", "namespace"},
	expr:      `max by (@cluster, namespace) (k8s_object_terminating_oldest_seconds{@, informer_type="namespaces"}) > $threshold`,
	summary:   `Namespace {{ $labels.namespace }}` + inCluster + ` is stuck in Terminating.`,
	description: `Namespace {{ $labels.namespace }}` + inCluster + " was deleted {{ $value | humanizeDuration }} ago and still exists; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "A Namespace was deleted more than $objective ago and still exists. The namespace controller deletes its content and releases it when nothing is left.",
		Impact:  "Nothing can be created in the Namespace, and no Namespace with the same name can be created. Deployments into it fail.",
		Diagnosis: []Step{
			{"Find the terminating objects in it, which are the usual cause and have their own alert.", `sum by (@cluster, informer_type, namespace, finalizer) (max by (@cluster, name, informer_type, namespace, finalizer) (k8s_object_terminating{@, informer_type!="namespaces"})) > 0`},
			{"Check the conditions of the Namespace: `kubectl get namespace NAME -o jsonpath='{.status.conditions}'`. `NamespaceContentRemaining` and `NamespaceFinalizersRemaining` name resources and finalizers, `NamespaceDeletionDiscoveryFailure` an API group that does not respond.", ""},
			{"Check the aggregated APIs. A single one that does not respond blocks every Namespace: `kubectl get apiservices | grep False`", ""},
			{"Find the remaining objects of resources that the exporter does not watch: `kubectl api-resources --verbs=list --namespaced -o name | xargs -n1 kubectl get -n NAME --ignore-not-found --show-kind`", ""},
			{"If all Namespaces are stuck, check whether kube-controller-manager runs and has a leader.", `k8s_lease_expired{@, lease="kube-controller-manager"}`},
		},
		Mitigation: []string{
			"Objects with finalizers: see the runbook of ClusterObjectHeld.",
			"An API service without its backend: restore it, or delete the APIService.",
			"Do not empty `spec.finalizers` of the Namespace by hand: its content stays in etcd, and returns with the next Namespace of that name.",
		},
	},
}

var clusterGenerationLag = Alert{
	Name:      "ClusterGenerationLag",
	Objective: catalog.Objectives.GenerationLag,
	board:     objectBoard,
	labels:    ofObject,
	expr:      `max by (@cluster, informer_type, namespace) (k8s_object_generation_lag_oldest_seconds{@}) > $threshold`,
	summary:   `Observed generation lag of {{ $labels.informer_type }}` + inNamespace + `.`,
	description: `At least one of the {{ $labels.informer_type }}` + inNamespace + ` has had status.observedGeneration < metadata.generation ` +
		"for {{ $value | humanizeDuration }}; the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "For more than $objective, `status.observedGeneration` of an object has been below `metadata.generation`: its controller has not observed the last change to the spec. The time counts from the moment the exporter first sees the lag; a restart of the exporter resets it.",
		Impact:  "The change has no effect: a rollout does not start, or a fix is not applied. The status of the object describes an older spec.",
		Diagnosis: []Step{
			{"Compare objects and resources. If many objects of one resource are affected, suspect its controller; if several resources are, suspect the API server or kube-controller-manager.", `sum by (@cluster, informer_type, namespace) (max by (@cluster, name, informer_type, namespace) (k8s_object_generation_lag{@})) > 0`},
			{"Find the objects: `kubectl get KIND -A -o json | jq -r '.items[] | select(.metadata.deletionTimestamp == null and .metadata.generation > (.status.observedGeneration // 0)) | [.metadata.namespace, .metadata.name] | @tsv'`", ""},
			{"Check whether the controller has a leader.", `max by (@cluster, lease_namespace, lease) (k8s_lease_expired{@}) == 1`},
			{"Check its queue depth, if it reports client-go's metrics.", `workqueue_depth{@} > 0`},
			{"Check its status updates for conflicts.", `sum by (@cluster, name, resource, subresource) (increase(k8s_client_conflicts_total{@}[15m])) > 0`},
		},
		Mitigation: []string{
			"No leader, or no replica: see ClusterLeaseExpired.",
			"A single object: the log of the controller has the error. The object is retried with increasing backoff.",
			"A controller that never sets the field although its CustomResourceDefinition has it: exclude the resource with `objects.withoutGenerations` in the configuration of the exporter, and report a bug to the controller.",
		},
	},
}
