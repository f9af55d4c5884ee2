package alerts

// Matchers of the series that an alert is about. Variables are explained in variables.go.
const (
	inThisCluster  = `@cluster="$CLUSTER"`
	ofThisProgram  = inThisCluster + `, @namespace="$NAMESPACE", name="$NAME"`
	ofThisProcess  = inThisCluster + `, @namespace="$NAMESPACE", @pod="$POD"`
	ofThisQueue    = ofThisProcess + `, name="$NAME"`
	ofThisLease    = inThisCluster + `, lease_namespace="$NAMESPACE", lease="$LEASE"`
	ofTheseObjects = inThisCluster + `, informer_type="$INFORMER_TYPE", namespace="$NAMESPACE", finalizer="$FINALIZER"`
	ofThisInformer = `, informer_type="$INFORMER_TYPE"` // after one of the above
)

// Contacts for escalation.
const (
	platformTeam     = "the administrators of the cluster: control plane, nodes and network"
	apiServerTeam    = "the owners of the API server and etcd of this cluster"
	controllerTeam   = "the owners of the program in this namespace"
	exporterTeam     = "the owners of the monitoring stack"
	exporterOrIssues = exporterTeam + "; for a bug in the exporter, its [issues](https://github.com/informer-exporter/informer-exporter/issues)"
)

// Commands for one process. They use the Pod of the alert.
var (
	describePod = Step{
		"Look for restarts, `OOMKilled`, failed probes and events of the Pod.",
		`kubectl -n "$NAMESPACE" describe pod "$POD"`,
	}
	goroutines = Step{
		"Save a goroutine dump, which shows where the process waits. (404: [no pprof](" + onCallPage + "#programs-without-pprof).)",
		`kubectl -n "$NAMESPACE" port-forward "pod/$POD" "26060:${INSTANCE##*:}" >/dev/null & curl -fsS --retry 9 --retry-delay 1 --retry-connrefused -o goroutines.txt 'http://localhost:26060/debug/pprof/goroutine?debug=2'; kill $!`,
	}
	stackTrace = Step{
		"Find the stack trace, in the log since the last restart or before it.",
		`(kubectl -n "$NAMESPACE" logs "$POD" --all-containers; kubectl -n "$NAMESPACE" logs "$POD" --all-containers --previous) | grep -A 30 panic | tail -n 60`,
	}
	restartPod = Step{
		"Restart the process: delete its Pod, which its Deployment or StatefulSet replaces.",
		`kubectl -n "$NAMESPACE" delete pod "$POD"`,
	}
)

// Commands for a program of several processes. Alerts on programs have no Pod: the reader picks one from the output
// of listPods.
var (
	listPods = Step{
		"List the Pods and their owners.",
		`kubectl -n "$NAMESPACE" get deployments,statefulsets,daemonsets,pods -o wide`,
	}
	podUsage = Step{
		"Compare CPU and memory with the limits (needs the metrics API).",
		`kubectl -n "$NAMESPACE" top pods --containers`,
	}
	restartProgram = Step{
		"Restart all replicas, one at a time.",
		`kubectl -n "$NAMESPACE" rollout restart "$WORKLOAD"`,
	}
	rollouts = Step{
		"If it began with a rollout, roll back: replace `history` with `undo`.",
		`kubectl -n "$NAMESPACE" rollout history "$WORKLOAD"`,
	}
)

// podLog returns a command that searches the log of the alert's Pod.
func podLog(pattern string) Step { return searchLog(pattern, "$POD") }

// replicaLog returns a command that searches the log of one of the program's Pods.
func replicaLog(pattern string) Step { return searchLog(pattern, "$REPLICA") }

func searchLog(pattern, pod string) Step {
	return Step{
		"Search the log.",
		`kubectl -n "$NAMESPACE" logs "` + pod + `" --all-containers --since=1h | grep -iE '` + pattern + `' | tail -n 30`,
	}
}

// because returns the step with another text.
func (s Step) because(text string) Step { return Step{text, s.Code} }

// Commands for the API server.
var (
	readyz = Step{
		"Check the health of the API server. If it does not respond, check its process, certificate and load balancer.",
		`kubectl get --raw '/readyz?verbose'`,
	}
	apiServers = Step{
		"List the API servers. All must belong to this cluster.",
		`kubectl -n default get endpointslices -l kubernetes.io/service-name=kubernetes`,
	}
	apiServices = Step{
		"Find aggregated APIs that are not available.",
		`kubectl get apiservices | grep -v True`,
	}
)

// Commands on the resource of an informer.
var (
	mayList = Step{
		"Check the permissions of the service account, for all namespaces.",
		`kubectl auth can-i list "$INFORMER_TYPE" -A --as="system:serviceaccount:$NAMESPACE:$(kubectl -n "$NAMESPACE" get pod "$POD" -o jsonpath='{.spec.serviceAccountName}')"`,
	}
	countObjects = Step{
		"Count the objects. Listing many or large objects takes a long time.",
		`kubectl get "$INFORMER_TYPE" -A -o name | wc -l`,
	}
)

// Commands on a resource that the reader chooses.
var (
	lastChanges = Step{
		"List the objects that changed last, with their field managers.",
		`kubectl get "$RESOURCE" -A --sort-by=.metadata.resourceVersion -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,WRITERS:.metadata.managedFields[*].manager | tail -n 20`,
	}
	terminatingObjects = Step{
		"Find the objects. Set `RESOURCE` to the resource that this controller reconciles.",
		`kubectl get "$RESOURCE" -A -o ` + terminating,
	}
)

// unobserved is an argument of kubectl get -o that prints only objects with an observed generation lag.
const unobserved = `custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,GENERATION:.metadata.generation,OBSERVED:.status.observedGeneration,DELETED:.metadata.deletionTimestamp | awk 'NR == 1 || $3 != $4 && $5 == "<none>"'`

// terminating is an argument of kubectl get -o that prints only terminating objects, with their finalizers.
const terminating = `custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,DELETED:.metadata.deletionTimestamp,FINALIZERS:.metadata.finalizers | awk 'NR == 1 || $3 != "<none>"'`

// Commands for the exporter. They select it by the label that the manifests in deploy set.
var (
	exporterPods = Step{
		"List the Pods of the exporter, with restarts.",
		`kubectl get pods -A -o wide -l app.kubernetes.io/name=informer-exporter`,
	}
	exporterLog = Step{
		"Read their log.",
		`kubectl -n "$NAMESPACE" logs -l app.kubernetes.io/name=informer-exporter --prefix --tail=50`,
	}
)
