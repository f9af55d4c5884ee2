package alerts

import (
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var controllerClientErrors = Alert{
	Name:      "ControllerClientErrors",
	Objective: catalog.Objectives.ClientErrors,
	board:     clientBoard,
	labels:    ofProgram,
	expr: `
(
  sum by (@cluster, @job, name) (rate(k8s_client_requests_total{@, code=~"5..|429|error"}[$window]))
/
  sum by (@cluster, @job, name) (rate(k8s_client_requests_total{@}[$window]))
) > $threshold
and
sum by (@cluster, @job, name) (increase(k8s_client_requests_total{@}[$window])) >= $count
`,
	summary: "API server requests of {{ $labels.name }}" + inCluster + " have a high error rate.",
	description: "{{ $value | humanizePercentage }} of the requests of {{ $labels.name }}" + inCluster +
		" to the API server have failed or been rejected with 429 for $for; the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "More than $objective of the requests of a program got no response, a server error or 429 Too Many Requests, for $for, in windows of $window with at least $count requests. Every attempt counts, including retries by client-go. Client errors such as 403, 404 and 409 do not count.",
		Impact:  "Reconciles fail and are retried. Lists and watches fail too, so that caches become stale.",
		Diagnosis: []Step{
			{"Find the status code. `429`: API priority and fairness. `500`, `503`, `504`: the API server, an aggregated API server, or a failing webhook. `error`: the network, TLS, or a timeout.", `sum by (@cluster, name, code) (increase(k8s_client_requests_total{@, code=~"5..|429|error"}[15m])) > 0`},
			{"Find the resources and verbs. If a single one fails, check its webhook, its conversion or its aggregated API server.", `sum by (@cluster, name, verb, resource, code) (increase(k8s_client_requests_total{@, code=~"5..|429|error"}[15m])) > 0`},
			{"Compare programs. If all of them fail, the cause is the API server.", `count by (@cluster) (sum by (@cluster, name) (increase(k8s_client_requests_total{@, code=~"5..|429|error"}[15m])) > 0)`},
		},
		Mitigation: []string{
			"Server errors: check the API server's own alerts first. For one resource, check webhooks (`failurePolicy`, `timeoutSeconds`) and `kubectl get apiservices`.",
			"429: make fewer requests (read from caches, patch less often), or give the program its own flow schema.",
			"No response: node, network policy, load balancer, certificates.",
		},
	},
}

var controllerClientThrottled = Alert{
	Name:      "ControllerClientThrottled",
	Objective: catalog.Objectives.ClientThrottle,
	board:     clientBoard,
	labels:    ofProgram,
	keep:      10 * time.Minute,
	expr: `
histogram_quantile($quantile, sum by (le, @cluster, @job, name) (rate(k8s_client_throttle_wait_seconds_bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @job, name) (increase(k8s_client_throttle_wait_seconds_count{@}[$window])) >= $count
`,
	summary: "{{ $labels.name }}" + inCluster + " is throttled by its own rate limiter.",
	description: "Requests of {{ $labels.name }}" + inCluster + " wait {{ $value | humanizeDuration }} for the client-side rate limiter (99th percentile); " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "Requests wait for the rate limiter of the program's own `rest.Config` for more than $objective at the 99th percentile for $for, in windows of $window with at least $count requests. The API server is not involved. The library observes a `RateLimiter` that the program sets before it wraps the configuration. With only `QPS` and `Burst`, or client-go's default of 5 requests per second with bursts of 10, each client creates a rate limiter of its own, which only `apiclient.NewMetrics` observes. If the program does not register it, this alert does not fire.",
		Impact:  "All requests of the program are late: reconciles, lists at startup, and lease renewals.",
		Diagnosis: []Step{
			{"Find the most frequent requests.", `topk(10, sum by (@cluster, name, verb, resource) (rate(k8s_client_requests_total{@}[5m])))`},
			{"Check whether this is limited to startup, and temporary.", `sum by (@cluster, name) (rate(k8s_client_requests_total{@}[5m]))`},
			{"Check whether leader election is affected.", `sum by (@cluster, name, lock) (increase(controller_leader_slow_renewals_total{@}[15m])) > 0`},
		},
		Mitigation: []string{
			"Raise the rate and burst of `RateLimiter` in the `rest.Config`, or set it to nil and `QPS` to -1 and rely on API priority and fairness, which protects the server from its clients.",
			"Many gets and lists: read from a cache. Many writes of the same objects: write only changes.",
			"Give leader election, and bulk jobs, their own client.",
		},
	},
}
