package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var clusterObjectHeld = Alert{
	Name:      "ClusterObjectHeld",
	Objective: catalog.ObjectHeld,
	board:     objectBoard,
	labels:    ofObject,
	expr:      `max by (@cluster, informer_type, namespace, finalizer) (k8s_object_terminating_oldest_seconds{@, informer_type!="namespaces"}) > $threshold`,
	summary:   `{{ $labels.informer_type }}` + inNamespace + ` cannot be deleted.`,
	description: `The oldest of the {{ $labels.informer_type }}` + inNamespace + ` that are in deletion has waited for ` +
		`{{ if eq $labels.finalizer "none" }}its node, without a finalizer,{{ else }}the finalizer {{ $labels.finalizer }}{{ end }} for ` +
		"{{ $value | humanizeDuration }}; the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "An object was deleted more than $objective ago and is still there. A finalizer is a name in its metadata that some controller must take out first; with the finalizer `none` it is a Pod whose grace period is over and whose kubelet does not confirm its end. Namespaces have an alert of their own, ClusterNamespaceStuck.",
		Impact:  "`kubectl delete` waits, a Namespace that holds the object stays `Terminating`, and nothing of the same name can be created. What the object stands for elsewhere, such as a volume or a load balancer, goes on to cost money.",
		Diagnosis: []Step{
			{"How many objects, of which kind, and which finalizer? A number that grows means that nobody removes it at all.", `sum by (@cluster, informer_type, namespace, finalizer) (max by (@cluster, name, informer_type, namespace, finalizer) (k8s_object_terminating{@})) > 0`},
			{"Which objects?  `kubectl get KIND -A -o json | jq -r '.items[] | select(.metadata.deletionTimestamp) | [.metadata.namespace, .metadata.name, (.metadata.finalizers|tostring)] | @tsv'`", ""},
			{"Whose finalizer is it? The part before the slash names the program. Does its controller run, and what does it log about the object?", ""},
			{"If that controller uses the library: do its clean-ups fail?", `sum by (@cluster, name, controller, finalizer, result) (increase(controller_finalizer_attempts_total{@}[15m]))`},
			{"`kubernetes.io/pvc-protection` and `kubernetes.io/pv-protection`: something still uses the volume. `foregroundDeletion`: the object waits for its dependents. Look at those.", ""},
			{"Pods without a finalizer: is their node gone?  `kubectl get nodes`, and the Leases of nodes:", `max by (@cluster, purpose, state) (k8s_lease_objects{@})`},
		},
		Mitigation: []string{
			"Bring the controller back, or what its clean-up needs: a service, credentials, permissions.",
			"The controller was removed before its objects: install it again, delete the objects, and then remove it.",
			"A node that will not come back: delete the Node, or taint it `node.kubernetes.io/out-of-service`, so that its Pods are let go.",
			"Only when it is certain that nothing is left to clean up, take the finalizer out by hand: `kubectl patch KIND NAME --type=json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers/0\"}]'`, after a look at which entry it is.",
		},
	},
}

var clusterNamespaceStuck = Alert{
	Name:      "ClusterNamespaceStuck",
	Objective: catalog.NamespaceStuck,
	board:     objectBoard,
	labels:    []string{"cluster", "namespace"},
	expr:      `max by (@cluster, namespace) (k8s_object_terminating_oldest_seconds{@, informer_type="namespaces"}) > $threshold`,
	summary:   `The namespace {{ $labels.namespace }}` + inCluster + ` stays Terminating.`,
	description: `The namespace {{ $labels.namespace }}` + inCluster + " was deleted {{ $value | humanizeDuration }} ago and is still there; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "A Namespace was deleted more than $objective ago and is still there. The namespace controller deletes everything in it and lets it go when nothing is left.",
		Impact:  "Nothing can be created in the Namespace, and none of the same name can be made. Whoever deploys into it fails.",
		Diagnosis: []Step{
			{"What in it is held in deletion? This is the usual cause, and has an alert of its own.", `sum by (@cluster, informer_type, namespace, finalizer) (max by (@cluster, name, informer_type, namespace, finalizer) (k8s_object_terminating{@, informer_type!="namespaces"})) > 0`},
			{"What does the namespace controller say?  `kubectl get namespace NAME -o jsonpath='{.status.conditions}'`: `NamespaceContentRemaining` and `NamespaceFinalizersRemaining` name resources and finalizers, `NamespaceDeletionDiscoveryFailure` an API group that does not answer.", ""},
			{"Does an aggregated API not answer? One is enough to hold up every Namespace.  `kubectl get apiservices | grep False`", ""},
			{"Is anything left that the exporter does not watch?  `kubectl api-resources --verbs=list --namespaced -o name | xargs -n1 kubectl get -n NAME --ignore-not-found --show-kind`", ""},
			{"Do all Namespaces stay? Then the kube-controller-manager does not run, or has no leader.", `k8s_lease_expired{@, lease="kube-controller-manager"}`},
		},
		Mitigation: []string{
			"Objects with finalizers: see the runbook of ClusterObjectHeld.",
			"An API service whose backend is gone: bring it back, or delete the APIService.",
			"Do not empty `spec.finalizers` of the Namespace by hand: what is in it stays in etcd, and comes back with the next Namespace of that name.",
		},
	},
}

var clusterGenerationLag = Alert{
	Name:      "ClusterGenerationLag",
	Objective: catalog.GenerationLag,
	board:     objectBoard,
	labels:    ofObject,
	expr:      `max by (@cluster, informer_type, namespace) (k8s_object_generation_lag_oldest_seconds{@}) > $threshold`,
	summary:   `Changes of {{ $labels.informer_type }}` + inNamespace + ` are not dealt with.`,
	description: `The spec of one of the {{ $labels.informer_type }}` + inNamespace + ` is newer than what its controller has seen, ` +
		"for {{ $value | humanizeDuration }}; the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "For more than $objective, `status.observedGeneration` of an object has been below `metadata.generation`: its controller has not written down that it has seen the last change of the spec. The time begins when the exporter first sees it, so a restart of the exporter begins it anew.",
		Impact:  "Somebody has changed an object, and nothing happens: a roll-out does not begin, a fix is not applied. What the object's status says is about an older spec.",
		Diagnosis: []Step{
			{"One object or many, of one resource or of several? Many of one resource: its controller. Several resources: the API server, or kube-controller-manager.", `sum by (@cluster, informer_type, namespace) (max by (@cluster, name, informer_type, namespace) (k8s_object_generation_lag{@})) > 0`},
			{"Which objects?  `kubectl get KIND -A -o json | jq -r '.items[] | select(.metadata.deletionTimestamp == null and .metadata.generation > (.status.observedGeneration // 0)) | [.metadata.namespace, .metadata.name] | @tsv'`", ""},
			{"Does the controller have a leader?", `max by (@cluster, lease_namespace, lease) (k8s_lease_expired{@}) == 1`},
			{"Is its queue deep or blocked? client-go's metrics tell, if it reports them.", `workqueue_depth{@} > 0`},
			{"Do its writes of the status fail?", `sum by (@cluster, name, resource, subresource) (increase(k8s_client_conflicts_total{@}[15m])) > 0`},
		},
		Mitigation: []string{
			"No leader, or no replica: see ClusterLeaseExpired.",
			"One object only: the controller's log about it has the error; it is tried again with a growing back-off.",
			"A controller that never writes the field although its CustomResourceDefinition has it: leave the resource out with `objects.withoutGenerations` in the exporter's configuration, and tell its author.",
		},
	},
}
