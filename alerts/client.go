package alerts

import (
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var controllerClientErrors = Alert{
	Name:      "ControllerClientErrors",
	Objective: catalog.ClientErrors,
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
	summary: "Requests of {{ $labels.name }}" + inCluster + " to the API server fail.",
	description: "{{ $value | humanizePercentage }} of the requests of {{ $labels.name }}" + inCluster +
		" to the API server have failed or been turned away for $for; the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "More than $objective of a program's requests got no answer, a server error or 429 Too Many Requests, for $for, in windows of $window with at least $count requests. Each attempt counts, also those that client-go repeats by itself. Refusals that are the program's own doing, such as 403, 404 and 409, do not count.",
		Impact:  "Reconciles fail and are tried again later; lists and watches too, so that caches fall behind.",
		Diagnosis: []Step{
			{"Which status? `429`: API priority and fairness. `500`, `503`, `504`: the API server, an aggregated one, or a webhook that fails. `error`: the network, TLS, or a timeout.", `sum by (@cluster, name, code) (increase(k8s_client_requests_total{@, code=~"5..|429|error"}[15m])) > 0`},
			{"Which resources and verbs? A single one points at its webhook, its conversion or an aggregated API server.", `sum by (@cluster, name, verb, resource, code) (increase(k8s_client_requests_total{@, code=~"5..|429|error"}[15m])) > 0`},
			{"One program, or all of them? All point at the API server.", `count by (@cluster) (sum by (@cluster, name) (increase(k8s_client_requests_total{@, code=~"5..|429|error"}[15m])) > 0)`},
		},
		Mitigation: []string{
			"Server errors: the API server's own alerts come first. For one resource, look at webhooks (`failurePolicy`, `timeoutSeconds`) and at `kubectl get apiservices`.",
			"429: make fewer requests (read from caches, patch less often), or give the program a flow schema of its own.",
			"No answer: node, network policy, load balancer, certificates.",
		},
	},
}

var controllerClientThrottled = Alert{
	Name:      "ControllerClientThrottled",
	Objective: catalog.ClientThrottle,
	board:     clientBoard,
	labels:    ofProgram,
	keep:      10 * time.Minute,
	expr: `
histogram_quantile($quantile, sum by (le, @cluster, @job, name) (rate(k8s_client_throttle_wait_seconds_bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @job, name) (increase(k8s_client_throttle_wait_seconds_count{@}[$window])) >= $count
`,
	summary: "{{ $labels.name }}" + inCluster + " is held up by its own rate limit.",
	description: "Requests of {{ $labels.name }}" + inCluster + " wait {{ $value | humanizeDuration }} for the client's own rate limiter (99th percentile); " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "Before a request is sent, it waits for the rate limiter of the program's own `rest.Config`, more than $objective at the 99th percentile for $for, in windows of $window with at least $count requests. The API server has nothing to do with it. Waits are seen only where the program sets `RateLimiter` before it wraps the configuration; where it sets only `QPS` and `Burst`, or leaves client-go's default of 5 requests a second with bursts of 10, each client makes a limiter of its own that nobody can look into, and this alert is silent.",
		Impact:  "Everything that the program asks for is late: reconciles, lists at a start, and the renewal of its lock.",
		Diagnosis: []Step{
			{"What is asked for most?", `topk(10, sum by (@cluster, name, verb, resource) (rate(k8s_client_requests_total{@}[5m])))`},
			{"Is it only at a start? Then it passes.", `sum by (@cluster, name) (rate(k8s_client_requests_total{@}[5m]))`},
			{"Does leader election suffer?", `sum by (@cluster, name, lock) (increase(controller_leader_slow_renewals_total{@}[15m])) > 0`},
		},
		Mitigation: []string{
			"Give `RateLimiter` of the `rest.Config` a higher rate and burst, or set it to nil and `QPS` to -1 and leave it to API priority and fairness, which protects the server whatever clients do.",
			"Many gets and lists: read from a cache. Many writes of the same objects: write only what has changed.",
			"Give leader election, and single bulk jobs, a client of their own.",
		},
	},
}
