package alerts

import (
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

var controllerClientErrors = Alert{
	Name:      "ControllerClientErrors",
	Objective: catalog.Objectives.ClientErrors,
	Reason:    "client-go and the queue retry; when all requests fail, KubernetesAPIUnreachable pages",
	board:     clientBoard,
	labels:    ofProgram,
	expr: `
(
  sum by (@cluster, @namespace, @job, name) (rate(k8s_client_requests_total{@, code=~"5..|429|error"}[$window]))
/
  sum by (@cluster, @namespace, @job, name) (rate(k8s_client_requests_total{@}[$window]))
) > $threshold
and
sum by (@cluster, @namespace, @job, name) (increase(k8s_client_requests_total{@}[$window])) >= $count
`,
	summary: "API server requests of " + program + " have a high error rate.",
	description: "{{ $value | humanizePercentage }} of the requests from " + program +
		" to the API server have failed or been rejected with 429 for $for; the objective is at most $objective.",
	Runbook: Runbook{
		Unless:  "several programs have this alert",
		Meaning: "More than $objective of this program's requests got no response, a server error or 429 Too Many Requests, for $for, in windows of $window with at least $count requests. Client errors such as 403, 404 and 409 do not count.",
		Impact:  "Reconciles fail and are retried. Lists and watches fail too, so caches become stale.",
		Commands: []Step{
			listPods,
			replicaLog("429|too many|timeout|refused|unavailable|error"),
			apiServices.because("If only one resource fails, look for an aggregated API without a backend; otherwise check its webhooks."),
		},
		Queries: []Step{
			{"Failed requests. `429`: API priority and fairness. `500`, `503`, `504`: the API server, an aggregated one, or a webhook. `error`: network, TLS, timeout.", `sum by (verb, resource, code) (` + prom.Occurred(`k8s_client_requests_total{@, `+ofThisProgram+`, code=~"5..|429|error"}`, "15m") + `) > 0`},
			{"Programs with failed requests. All of them: the API server.", `sum by (@namespace, name) (` + prom.Occurred(`k8s_client_requests_total{@, `+inThisCluster+`, code=~"5..|429|error"}`, "15m") + `) > 0`},
		},
		Causes: []string{
			"Server errors: check the API server's own alerts first. For one resource, its webhooks (`failurePolicy`, `timeoutSeconds`) and APIService.",
			"429: make fewer requests (read from caches, patch less often), or give the program its own flow schema.",
			"No response: node, network policy, load balancer, certificates.",
		},
		Resolves: "when the error rate falls to $objective over $window, or there are fewer than $count requests: the values of the first query decrease.",
		Escalate: controllerTeam + ", or " + apiServerTeam + " if several programs have this alert",
	},
}

var controllerWriteConflicts = Alert{
	Name:      "ControllerWriteConflicts",
	Objective: catalog.Objectives.WriteConflicts,
	Reason:    "writes are retried and succeed in the end",
	board:     clientBoard,
	labels:    ofProgram,
	// By resource and subresource, which client-go's own metric does not have: the conflicts of a whole program, such as
	// kube-controller-manager, exceed a tenth of its writes in a healthy cluster.
	expr: `
(
  sum by (@cluster, @namespace, @job, name, resource, subresource) (rate(k8s_client_conflicts_total{@, name!=""}[$window]))
/
  sum by (@cluster, @namespace, @job, name, resource, subresource) (rate(k8s_client_requests_total{@, name!="", verb=~"create|update|patch|delete|deletecollection"}[$window]))
) > $threshold
and
sum by (@cluster, @namespace, @job, name, resource, subresource) (increase(k8s_client_conflicts_total{@, name!=""}[$window])) >= $count
`,
	summary: "Writes of " + program + " are rejected with conflicts.",
	description: "{{ $value | humanizePercentage }} of the writes to {{ $labels.resource }}{{ with $labels.subresource }}/{{ . }}{{ end }} by " +
		program + " have been rejected with 409 Conflict for $for; the objective is at most $objective.",
	Runbook: Runbook{
		Unless:  "several programs have this alert",
		Meaning: "More than $objective of this program's writes to this resource were rejected with 409 Conflict for $for, with at least $count conflicts in $window: the object had changed since the program read it. AlreadyExists is not a conflict.",
		Impact:  "Each conflict is a lost write and another reconcile. Retries without end multiply the load; three attempts with a fresh read are enough.",
		Commands: []Step{
			{"Find the other writers: list the objects that changed last, with their field managers. Set `RESOURCE` to the resource of the alert.", lastChanges.Code},
			listPods.because("List the Pods: do two replicas act as the leader?"),
			replicaLog("conflict|the object has been modified"),
		},
		Queries: []Step{
			{"Conflicts by resource.", `sum by (resource, subresource) (` + prom.Occurred(`k8s_client_conflicts_total{@, `+ofThisProgram+`}`, "15m") + `) > 0`},
			{"Sync lag: does the program write what it read from a stale cache?", `max by (@pod, informer_type) (k8s_informer_sync_lag_seconds{@, ` + ofThisProgram + `})`},
			{"Writes that changed nothing, such as a status written through the main resource.", `sum by (resource, subresource) (` + prom.Occurred(`k8s_client_unchanged_writes_total{@, `+ofThisProgram+`}`, "15m") + `) > 0`},
		},
		Causes: []string{
			"A stale informer: the program reads from a cache that is behind its own writes. Retry with a fresh read (`retry.RetryOnConflict`), at most three times.",
			"Client-side throttling delays the write after the read: see ControllerClientThrottled.",
			"A status without the status subresource: spec and status are one object, and its writers collide. Add `subresources.status` to the CustomResourceDefinition; `informer-exporter check` names those without it.",
			"Two writers of one field: use server-side apply with separate field managers, or patch only the own fields.",
		},
		Resolves: "when the share falls to $objective over $window, or there are fewer than $count conflicts.",
		Escalate: controllerTeam,
	},
}

var controllerClientThrottled = Alert{
	Name:      "ControllerClientThrottled",
	Objective: catalog.Objectives.ClientThrottle,
	Reason:    "requests are delayed but succeed",
	board:     clientBoard,
	labels:    ofProgram,
	keep:      10 * time.Minute,
	expr: `
histogram_quantile($quantile, sum by (@le, @cluster, @namespace, @job, name) (rate(k8s_client_throttle_wait_seconds@bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @namespace, @job, name) (increase(k8s_client_throttle_wait_seconds@count{@}[$window])) >= $count
`,
	summary: program + " is throttled by its client-side rate limiter.",
	description: "Requests of " + program + " wait {{ $value | humanizeDuration }} for the client-side rate limiter (99th percentile); " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "Requests wait for the rate limiter of the program's own `rest.Config` for more than $objective at the 99th percentile for $for, in windows of $window with at least $count requests. The API server is not involved.",
		Impact:  "All requests of the program are delayed, including reconciles, lists at startup and lease renewals.",
		Commands: []Step{
			listPods,
			replicaLog("throttl"),
			{"Look for the limits in its flags and environment variables.", `kubectl -n "$NAMESPACE" get "$WORKLOAD" -o yaml | grep -iE 'qps|burst'`},
		},
		Queries: []Step{
			{"Most frequent requests.", `topk(10, sum by (verb, resource) (rate(k8s_client_requests_total{@, ` + ofThisProgram + `}[5m])))`},
			{"Requests per second over time: is the rate high only at startup?", `sum by (@pod) (rate(k8s_client_requests_total{@, ` + ofThisProgram + `}[5m]))`},
			{"Slow renewals: is leader election affected?", `sum by (lock) (` + prom.Occurred(`controller_leader_slow_renewals_total{@, `+ofThisProgram+`}`, "15m") + `) > 0`},
		},
		Causes: []string{
			"Raise `QPS` and `Burst` of the `rest.Config`, or the rate of its `RateLimiter`, or set `QPS` to -1 and rely on API priority and fairness.",
			"Many gets and lists: read from a cache. Many writes of the same objects: write only changes.",
			"Give leader election and bulk jobs their own clients.",
		},
		Resolves: "10 minutes after the wait has fallen to $objective, or there are fewer than $count requests.",
		Escalate: controllerTeam,
	},
}
