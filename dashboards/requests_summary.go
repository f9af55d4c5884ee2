package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// A status has no series before it was first answered: where nothing has failed yet, "or 0 *" makes a 0 of no data.

func failedRequests(t catalog.Targets) panel {
	o := t.Of(catalog.ClientErrors)
	return single{
		header: header{id: 1, title: "Failed", unit: "percentunit",
			about: "Share of the requests that the API server did not answer, answered with a server error or turned away with 429, of the program that fails most. Normal is 0, also when nothing is asked for. The objective is " + o.Goal() + "."},
		query: `max((sum by (@cluster, @job, name) (rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[$__rate_interval])) or 0 * sum by (@cluster, @job, name) (rate(k8s_client_requests_total{@program}[$__rate_interval]))) / clamp_min(sum by (@cluster, @job, name) (rate(k8s_client_requests_total{@program}[$__rate_interval])), 1e-9))`,
		red:   o.Threshold,
	}
}

func longestThrottle(t catalog.Targets) panel {
	o := t.Of(catalog.ClientThrottle)
	return single{
		header: header{id: 2, title: "Rate limiter p99", unit: "s",
			about: "99th percentile of the time that requests wait for the client's own rate limiter, of the program that waits longest. Normal is 0. The objective is " + o.Goal() + "; otherwise raise the limit, or ask for less. Idle also if no program sets a RateLimiter."},
		query: `max(histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_client_throttle_wait_seconds_bucket{@program}[$__rate_interval]))))`,
		red:   o.Threshold,
		idle:  "idle",
	}
}

func turnedAway() panel {
	return single{
		header: header{id: 3, title: "Turned away", unit: "cpm",
			about: "Requests in a minute that the API server answered with 429 Too Many Requests. Normal is 0. A few in a burst are no harm, since client-go tries again; see which resources below."},
		query: `60 * (sum(rate(k8s_client_requests_total{@program, code="429"}[$__rate_interval])) or 0 * sum(rate(k8s_client_requests_total{@program}[$__rate_interval])))`,
	}
}

func conflictRate() panel {
	return single{
		header: header{id: 4, title: "Conflicts", unit: "cpm",
			about: "Writes in a minute that the API server refused with 409 Conflict, because the object had changed or exists. A few are normal, each costs a retry. Many are two writers of the same object."},
		query: `60 * sum(rate(k8s_client_conflicts_total{@program}[$__rate_interval]))`,
	}
}

func slowestRequests() panel {
	return single{
		header: header{id: 5, title: "Request p99", unit: "s",
			about: "99th percentile of the time until the headers of an answer, of the slowest verb. Up to a second is what Kubernetes promises for single objects, up to 30 s for lists."},
		query: `max(histogram_quantile(0.99, sum by (le, @cluster, name, verb) (rate(k8s_client_request_duration_seconds_bucket{@program}[$__rate_interval]))))`,
		idle:  "idle",
	}
}

func requestRate() panel {
	return single{
		header: header{id: 6, title: "Requests", unit: "reqps",
			about: "Requests in a second, each attempt counted. What is normal depends on the programs; a controller at rest makes hardly any besides the renewal of its lock."},
		query: `sum(rate(k8s_client_requests_total{@program}[$__rate_interval]))`,
	}
}

func everyResource(t catalog.Targets) panel {
	o := t.Of(catalog.ClientErrors)
	return grid{
		header: header{id: 7, title: "Every resource, the one that fails most first", unit: "short",
			about: "One row for each resource that a program asks for. Normal is that nothing fails and few writes conflict. Red cells miss an objective. No share and no duration are shown where nothing is asked for."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "resource", title: "Resource"},
		},
		columns: []column{
			{title: "Failed", unit: "percentunit", bad: true, red: o.Threshold, query: `(sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[$__rate_interval])) or 0 * sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program}[$__rate_interval]))) / (sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program}[$__rate_interval])) > 0)`},
			{title: "Requests", unit: "reqps", query: `sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`},
			{title: "Conflicts", unit: "cpm", query: `60 * sum by (@cluster, name, resource) (rate(k8s_client_conflicts_total{@program}[$__rate_interval]))`},
			{title: "p99", unit: "s", query: `histogram_quantile(0.99, sum by (le, @cluster, name, resource) (rate(k8s_client_request_duration_seconds_bucket{@program}[$__rate_interval]))) >= 0`},
		},
		sortBy: "Failed",
	}
}
