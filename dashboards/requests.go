package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func requestsByVerb() panel {
	return timeSeries{
		header: header{id: 20, title: "Requests by verb", unit: "reqps",
			description: "An idle controller renews its lease with get and update, and opens watches every 5 to 10 minutes. High rates of list and get are reads that the cache could answer."},
		queries: []query{{expr: `sum by (@cluster, name, verb) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{verb}}"}},
	}
}

func requestsByResource() panel {
	return timeSeries{
		header: header{id: 21, title: "Requests by resource", unit: "reqps",
			description: "Requests of all verbs. The normal rate depends on the program. A lasting rise while the cluster is quiet is a loop of writes and events."},
		queries: []query{{expr: `sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}}"}},
	}
}

func requestsByCode() panel {
	return timeSeries{
		header: header{id: 22, title: "Requests by status code", unit: "reqps",
			description: "Requests by status code, counting each attempt. Normally 200, 201 and some 404. 401, 403: tokens and permissions. error: no response."},
		queries: []query{{expr: `sum by (@cluster, name, code) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{code}}"}},
	}
}

func requestErrorRate(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 30, title: "Request error rate", unit: "percentunit",
			description: "Share of requests that get no response, a 5xx or a 429. Normally 0; no line without requests. All programs at once: check the API server. One program: check its network and its request rate."},
		queries: []query{{expr: `(sum by (@cluster, name) (rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[$__rate_interval])) or 0 * sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval]))) / (sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval])) > 0)`, legend: "{{@cluster}} {{name}}"}},
		goal:    new(t.Of(catalog.Objectives.ClientErrors)),
	}
}

func failuresByCode() panel {
	return timeSeries{
		header: header{id: 31, title: "Unsuccessful requests by resource and status", unit: "short", empty: normallyEmpty,
			description: "404 is normal for reads of optional objects, 409 for some writes. 403: permissions. 422: invalid object. 429: too many requests. 5xx and error: API server, webhook or network."},
		queries: []query{{expr: `sum by (@cluster, name, resource, code) (increase(k8s_client_requests_total{@program, code!~"[123].."}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}} {{code}}"}},
		stacked: true,
	}
}

func conflicts() panel {
	return timeSeries{
		header: header{id: 32, title: "Conflicts by resource", unit: "short",
			description: "Writes rejected with 409, excluding status updates. A few are normal while the cache catches up. Many indicate two writers of the same fields: use server-side apply or a patch, and find the other writer in managedFields."},
		queries: []query{{expr: `sum by (@cluster, name, resource, subresource) (increase(k8s_client_conflicts_total{@program, subresource!="status"}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}} {{subresource}}"}},
		stacked: true,
	}
}

func statusConflicts() panel {
	return timeSeries{
		header: header{id: 33, title: "Status update conflicts by resource", unit: "short",
			description: "Status updates rejected with 409. A few are normal. Many mean that the status is written from a stale object: read the object again before the write, or patch only the controller's own fields."},
		queries: []query{{expr: `sum by (@cluster, name, resource) (increase(k8s_client_conflicts_total{@program, subresource="status"}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}}"}},
		stacked: true,
	}
}

func rejectedRequests() panel {
	return timeSeries{
		header: header{id: 34, title: "Requests rejected with 429", unit: "short", empty: normallyEmpty,
			description: "Requests answered with 429 Too Many Requests, by resource and verb. Normally none. API priority and fairness protects the server: send fewer requests, or add a FlowSchema for the program."},
		queries: []query{{expr: `sum by (@cluster, name, resource, verb) (increase(k8s_client_requests_total{@program, code="429"}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}} {{verb}}"}},
		stacked: true,
	}
}

func clientThrottling(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 40, title: "Client-side throttling p99", unit: "s",
			description: "99th percentile of the time requests wait for the client's own rate limiter. Normally 0, with peaks at startup; no line for programs that do not report the waits. It delays all requests, including lease renewals: raise QPS and burst, or send fewer requests."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_client_throttle_wait_seconds_bucket{@program}[$__rate_interval])))`, legend: "{{@cluster}} {{name}}"}},
		goal:    new(t.Of(catalog.Objectives.ClientThrottle)),
	}
}

func durationByVerb() panel {
	return timeSeries{
		header: header{id: 41, title: "Request duration p99 by verb", unit: "s",
			description: "99th percentile of the time to the response headers. Normally tens of milliseconds for single objects. Slow writes with fast reads indicate etcd or admission webhooks."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, verb) (rate(k8s_client_request_duration_seconds_bucket{@program}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} {{verb}}"}},
	}
}

func durationByResource() panel {
	return timeSeries{
		header: header{id: 42, title: "Request duration p99 by resource", unit: "s",
			description: "99th percentile of the time to the response headers, over all verbs. One slow resource indicates webhooks, conversion or an aggregated API server; all resources indicate the API server or the network."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, resource) (rate(k8s_client_request_duration_seconds_bucket{@program}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} {{resource}}"}},
	}
}
