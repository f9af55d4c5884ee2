package alerts

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

var clusterObjectHeld = Alert{
	Name:      "ClusterObjectHeld",
	Objective: catalog.Objectives.ObjectHeld,
	Reason:    "one deletion is blocked; running workloads are not affected",
	board:     objectBoard,
	labels:    ofObject,
	expr:      `max by (@cluster, informer_type, namespace, finalizer) (k8s_object_terminating_oldest_seconds{@, informer_type!="namespaces"}) > $threshold`,
	summary:   `{{ $labels.informer_type }}` + inNamespace + ` cannot be deleted.`,
	description: `The oldest of the terminating {{ $labels.informer_type }}` + inNamespace + ` has been blocked by ` +
		`{{ if eq $labels.finalizer "none" }}its node{{ else }}the finalizer {{ $labels.finalizer }}{{ end }} for ` +
		"{{ $value | humanizeDuration }}; the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "An object was deleted more than $objective ago and still exists, because of a finalizer: an entry in its metadata that a controller must remove first. `none`: a Pod that its kubelet has not confirmed as terminated.",
		Impact:  "`kubectl delete` waits, the Namespace of the object stays `Terminating`, and no object with the same name can be created. External resources, such as volumes and load balancers, continue to cost money.",
		Commands: []Step{
			{"Find the objects and their finalizers.", `kubectl get "$INFORMER_TYPE" -n "$NAMESPACE" -o ` + terminating},
			{"Find the controller of the finalizer: the part before the slash names it. Then read its log.", `kubectl get deployments,statefulsets,daemonsets -A | grep -i "${FINALIZER%%[./]*}"`},
			{"Finalizer `none`: find nodes that are not ready.", `kubectl get nodes | grep -v ' Ready '`},
		},
		Queries: []Step{
			{"Number of objects. If it increases, no controller removes the finalizer.", `max by (finalizer) (k8s_object_terminating{@, ` + ofTheseObjects + `})`},
			{"Results of cleanups, if the controller uses the library.", `sum by (name, controller, result) (` + prom.Occurred(`controller_finalizer_attempts_total{@, `+inThisCluster+`, finalizer="$FINALIZER"}`, "15m") + `)`},
		},
		Causes: []string{
			"The controller is down, or its cleanup fails: restore it and its dependencies.",
			"The controller was removed before its objects: install it again, delete the objects, and then remove it.",
			"`kubernetes.io/pvc-protection`, `kubernetes.io/pv-protection`: the volume is still in use. `foregroundDeletion`: the object waits for its dependents.",
			"A node that will not return: delete the Node, or taint it `node.kubernetes.io/out-of-service`.",
			"Nothing is left to clean up: [remove the finalizer by hand](" + onCallPage + "#finalizers).",
		},
		Resolves: "when the objects are deleted: the first command lists none.",
		Escalate: "the owners of the controller that the finalizer names, or " + platformTeam,
	},
}

var clusterNamespaceStuck = Alert{
	Name:      "ClusterNamespaceStuck",
	Objective: catalog.Objectives.NamespaceStuck,
	Reason:    "one deletion is blocked; running workloads are not affected",
	board:     objectBoard,
	labels:    []string{"cluster", "namespace"},
	expr:      `max by (@cluster, namespace) (k8s_object_terminating_oldest_seconds{@, informer_type="namespaces"}) > $threshold`,
	summary:   `Namespace {{ $labels.namespace }}` + cluster + ` is stuck in Terminating.`,
	description: `Namespace {{ $labels.namespace }}` + cluster + " was deleted {{ $value | humanizeDuration }} ago and still exists; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "A Namespace was deleted more than $objective ago and still exists. The namespace controller deletes its content, and removes it when nothing is left.",
		Impact:  "Nothing can be created in the Namespace, and no Namespace with the same name can be created. Deployments into it fail.",
		Commands: []Step{
			{"Read the reason: remaining resources, finalizers, or an API group that does not respond.", `kubectl get namespace "$NAMESPACE" -o jsonpath='{range .status.conditions[*]}{.type}{": "}{.message}{"\n"}{end}'`},
			apiServices.because("Find aggregated APIs without a backend. A single one blocks every Namespace."),
			{"Find the remaining objects.", `kubectl get -n "$NAMESPACE" --ignore-not-found -o name "$(kubectl api-resources --verbs=list --namespaced -o name | paste -sd, -)"`},
		},
		Queries: []Step{
			{"Terminating objects in it, which are the usual cause and have their own alert.", `max by (informer_type, finalizer) (k8s_object_terminating{@, ` + inThisCluster + `, namespace="$NAMESPACE"}) > 0`},
			{"Lease of kube-controller-manager. 1: it has no leader, and all Namespaces are stuck.", `max by (lease) (k8s_lease_expired{@, ` + inThisCluster + `, lease="kube-controller-manager"})`},
		},
		Causes: []string{
			"Objects with finalizers: see the runbook of ClusterObjectHeld.",
			"An API service without its backend: restore it, or delete the APIService.",
			"Do not empty `spec.finalizers` of the Namespace by hand: its content stays in etcd, and returns with the next Namespace of that name.",
		},
		Resolves: "when the Namespace is deleted: `kubectl get namespace \"$NAMESPACE\"` reports NotFound.",
		Escalate: platformTeam,
	},
}

var clusterGenerationLag = Alert{
	Name:      "ClusterGenerationLag",
	Objective: catalog.Objectives.GenerationLag,
	Reason:    "one object is behind; its previous state keeps running",
	board:     objectBoard,
	labels:    ofObject,
	expr:      `max by (@cluster, informer_type, namespace) (k8s_object_generation_lag_oldest_seconds{@}) > $threshold`,
	summary:   `Observed generation lag of {{ $labels.informer_type }}` + inNamespace + `.`,
	description: `At least one of the {{ $labels.informer_type }}` + inNamespace + ` has had status.observedGeneration < metadata.generation ` +
		"for {{ $value | humanizeDuration }}; the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "For more than $objective, `status.observedGeneration` of an object has been below `metadata.generation`: its controller has not observed the last change to the spec.",
		Impact:  "The change has no effect: a rollout does not start, or a fix is not applied. The status of the object describes an older spec.",
		Commands: []Step{
			{"Find the objects.", `kubectl get "$INFORMER_TYPE" -n "$NAMESPACE" -o ` + unobserved},
			{"Check that the controller is alive. An old `RENEWED` means no leader.", `kubectl get leases -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,HOLDER:.spec.holderIdentity,RENEWED:.spec.renewTime`},
			{"For built-in resources, read the log of kube-controller-manager.", `kubectl -n kube-system logs -l component=kube-controller-manager --prefix --tail=100`},
		},
		Queries: []Step{
			{"Resources with observed generation lag. One: its controller. Several: the API server or kube-controller-manager.", `max by (informer_type, namespace) (k8s_object_generation_lag{@, ` + inThisCluster + `}) > 0`},
			{"Queue depth, if the controller reports client-go's metrics.", `sum by (name) (workqueue_depth{@, ` + inThisCluster + `}) > 0`},
		},
		Causes: []string{
			"No leader, or no replica: see ClusterLeaseExpired.",
			"A single object: the controller logs the error. The object is retried with increasing backoff.",
			"A controller that never sets the field: exclude the resource with `objects.withoutGenerations` in the configuration of the exporter, and report a bug to the controller.",
		},
		Resolves: "when the controller observes the generation: the first command lists no object.",
		Escalate: "the owners of this resource's controller; for built-in resources, " + apiServerTeam,
	},
}
