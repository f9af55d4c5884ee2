package dashboards

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// apiClient covers requests as the client sees them.
func apiClient() page {
	return page{
		uid:         APIClientUID,
		title:       "Controllers / API client",
		description: "Rate, errors, duration, conflicts and throttling of API server requests, measured in the client.",
		variables:   clientVariables,
		alerts:      controllerAlerts + `|ClusterWatch.+`,
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, panels: []panel{worstErrorRate, worstThrottling, rejectedNow, worstConflicts, slowestRequests, requestRate}},
				{height: 9, panels: []panel{resourceTable}},
			}},
			{id: 200, title: "Requests", lines: []line{
				{height: 9, panels: []panel{requestsByVerb, requestsByResource, requestsByCode}},
				{height: 9, panels: []panel{readsByVersion, readBytes, compressedShare}},
			}},
			{id: 300, title: "Errors", lines: []line{
				{height: 9, panels: []panel{requestErrorRate, failuresByCode, conflicts}},
				{height: 9, panels: []panel{unchangedWrites, openWatchesByProgram}},
			}},
			{id: 400, title: "Duration and throttling", lines: []line{
				{height: 9, panels: []panel{clientThrottling, durationByVerb}},
			}},
			staleCaches,
			apiServer,
		},
	}
}

// A code has no series before its first response: "or 0 *" returns 0 until the first error.

var worstErrorRate = singleStat{header: header{id: 1, title: "Error rate", unit: "percentunit",
	description: "Share of requests that get no response, a 5xx or a 429, for the worst program. Normally 0. idle: no requests."},
	idle: "idle", query: `max((sum by (@cluster, @job, name) (rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[$__rate_interval])) or 0 * sum by (@cluster, @job, name) (rate(k8s_client_requests_total{@program}[$__rate_interval]))) / sum by (@cluster, @job, name) (rate(k8s_client_requests_total{@program}[$__rate_interval])))`,
	goal: &catalog.Objectives.ClientErrors,
}

var worstThrottling = singleStat{header: header{id: 2, title: "Client-side throttling p99", unit: "s",
	description: "99th percentile of the time requests wait for the client-side rate limiter, for the worst program. Normally 0. Raise the limit, or send fewer requests. idle: no requests. No data: no program reports the waits."},
	query: `max(histogram_quantile(0.99, sum by (@le, @cluster, name) (rate(k8s_client_throttle_wait_seconds@bucket{@program}[$__rate_interval]))))`,
	goal:  &catalog.Objectives.ClientThrottle,
	idle:  "idle",
}

var rejectedNow = singleStat{header: header{id: 3, title: "Rejected (429)", unit: "short",
	description: "Requests answered with 429 Too Many Requests. Normally 0. A few during a burst are harmless, since client-go retries. The panels below show the resources."},
	query: `sum(` + prom.Occurred(`k8s_client_requests_total{@program, code="429"}`, `$__rate_interval`) + `) or 0 * sum(rate(k8s_client_requests_total{@program}[$__rate_interval]))`,
}

var worstConflicts = singleStat{header: header{id: 8, title: "Conflicts", unit: "percentunit",
	description: "Writes rejected with 409 Conflict, as a share, for the worst resource. A few are normal; each costs a retry. Many indicate two writers of the same object. idle: no writes."},
	idle: "idle", query: `max(` + conflictShare("@program", "@cluster, name, resource, subresource") + `)`,
	goal: &catalog.Objectives.WriteConflicts,
}

var slowestRequests = singleStat{header: header{id: 5, title: "Request duration p99", unit: "s",
	description: "99th percentile of the time to the response headers, for the slowest verb. The Kubernetes SLO is 1 s for single objects and 30 s for lists."},
	idle: "idle", query: `max(histogram_quantile(0.99, sum by (@le, @cluster, name, verb) (rate(k8s_client_request_duration_seconds@bucket{@program}[$__rate_interval]))))`,
}

var requestRate = singleStat{header: header{id: 6, title: "Requests per minute", unit: "short",
	description: "Requests per minute, counting each attempt. The normal rate depends on the programs. An idle controller sends little more than lease renewals."},
	query: `60 * sum(rate(k8s_client_requests_total{@program}[$__rate_interval]))`,
}

var resourceTable = labelTable{header: header{id: 7, title: "Resources by error rate", unit: "short",
	description: "One row per resource that a program requests. Normally no errors and few conflicts. Red cells miss an objective. No rate without requests."},
	labels: []column{{label: "cluster", title: "Cluster"}, {label: "name", title: "Program", link: &link{uid: APIClientUID, title: "Only this program", sets: []string{"cluster", "name"}}}, {label: "resource", title: "Resource"}},
	columns: []column{
		{title: "Error rate", unit: "percentunit", goal: &catalog.Objectives.ClientErrors, query: `(sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[$__rate_interval])) or 0 * sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program}[$__rate_interval]))) / (sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program}[$__rate_interval])) > 0)`},
		{title: "Requests/min", unit: "short", query: `60 * sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`},
		{title: "Conflicts", unit: "percentunit", goal: &catalog.Objectives.WriteConflicts, query: conflictShare("@program", "@cluster, name, resource") + ` >= 0`},
	},
	sortBy: []string{"Error rate", "Requests/min"},
}
