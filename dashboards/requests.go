package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func requestsByVerb() panel {
	return timeSeries{
		header: header{id: 20, title: "Requests by verb", unit: "reqps",
			about: "Requests by what they ask for. A controller at rest renews its lock, with get and update, and opens a watch every 5 to 10 minutes. Lists and gets at a high rate are reads that the cache could answer."},
		queries: []query{{expr: `sum by (@cluster, name, verb) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{verb}}"}},
	}
}

func requestsByResource() panel {
	return timeSeries{
		header: header{id: 21, title: "Requests by resource", unit: "reqps",
			about: "Requests by the resource that they are about, all verbs together. What is normal depends on the program; a rise that goes on while nothing changes in the cluster is a loop of writes and events."},
		queries: []query{{expr: `sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}}"}},
	}
}

func requestsByCode() panel {
	return timeSeries{
		header: header{id: 22, title: "Requests by status", unit: "reqps",
			about: "Requests by the status of the answer, each attempt counted. 200 and 201 are normal, and some 404 for what is not there. 401 and 403 are tokens and permissions; error is no answer at all."},
		queries: []query{{expr: `sum by (@cluster, name, code) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{code}}"}},
	}
}

func failedShare(t catalog.Targets) panel {
	o := t.Of(catalog.ClientErrors)
	return timeSeries{
		header: header{id: 30, title: "Share that fails or is turned away", unit: "percentunit",
			about: "Share of the requests without an answer, with a server error or with 429. Normal is 0, and no line where nothing is asked for. All programs at once point at the API server, one of them at its network or its rate of requests."},
		queries: []query{{expr: `(sum by (@cluster, name) (rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[$__rate_interval])) or 0 * sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval]))) / (sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval])) > 0)`, legend: "{{@cluster}} {{name}}"}},
		goal:    &o,
	}
}

func failuresByCode() panel {
	return timeSeries{
		header: header{id: 31, title: "Refusals by resource and status", unit: "short", empty: noneHere,
			about: "Requests that did not succeed. 404 is normal for reads of what may not be there, 409 for writes, see below; 403: permissions; 422: the object is invalid; 429: too many requests; 5xx and error: the API server, a webhook or the network."},
		queries: []query{{expr: `sum by (@cluster, name, resource, code) (increase(k8s_client_requests_total{@program, code!~"[123].."}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}} {{code}}"}},
		stacked: true,
	}
}

func conflicts() panel {
	return timeSeries{
		header: header{id: 32, title: "Conflicts", unit: "short",
			about: "Writes that were refused with 409, those of the status left out. A few are normal: the cache had not caught up. Many are two writers of the same fields: use server-side apply or a patch, and find the other one in managedFields."},
		queries: []query{{expr: `sum by (@cluster, name, resource, subresource) (increase(k8s_client_conflicts_total{@program, subresource!="status"}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}} {{subresource}}"}},
		stacked: true,
	}
}

func statusConflicts() panel {
	return timeSeries{
		header: header{id: 33, title: "Conflicts of the status", unit: "short",
			about: "Updates of the status that were refused with 409. A few are normal. Many are a status that is written from an object that is out of date: read it again before the write, or patch what belongs to the controller only."},
		queries: []query{{expr: `sum by (@cluster, name, resource) (increase(k8s_client_conflicts_total{@program, subresource="status"}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}}"}},
		stacked: true,
	}
}

func throttledByServer() panel {
	return timeSeries{
		header: header{id: 34, title: "Turned away by the API server", unit: "short", empty: noneHere,
			about: "Requests that were answered with 429 Too Many Requests, by resource and verb. Normal is none. API priority and fairness protects the server: make fewer requests, or give the program a flow schema of its own."},
		queries: []query{{expr: `sum by (@cluster, name, resource, verb) (increase(k8s_client_requests_total{@program, code="429"}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}} {{verb}}"}},
		stacked: true,
	}
}

func throttleWait(t catalog.Targets) panel {
	o := t.Of(catalog.ClientThrottle)
	return timeSeries{
		header: header{id: 40, title: "Wait for the client's own limit, p99", unit: "s",
			about: "How long requests wait for the client's own rate limiter, 99th percentile. Normal is 0, with peaks at starts, and no line where the program sets no RateLimiter in its rest.Config. More makes everything late, the renewal of locks included: raise its rate and burst, or make fewer requests."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_client_throttle_wait_seconds_bucket{@program}[$__rate_interval])))`, legend: "{{@cluster}} {{name}}"}},
		goal:    &o,
	}
}

func durationByVerb() panel {
	return timeSeries{
		header: header{id: 41, title: "Duration by verb, p99", unit: "s",
			about: "From sending a request to the headers of its answer, 99th percentile. Tens of milliseconds are normal for single objects. Writes that are slow while reads are not point at etcd or at admission webhooks."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, verb) (rate(k8s_client_request_duration_seconds_bucket{@program}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} {{verb}}"}},
	}
}

func durationByResource() panel {
	return timeSeries{
		header: header{id: 42, title: "Duration by resource, p99", unit: "s",
			about: "From sending a request to the headers of its answer, 99th percentile, all verbs together. One slow resource points at its webhooks, its conversion or an aggregated API server; all of them at the API server or the network."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, resource) (rate(k8s_client_request_duration_seconds_bucket{@program}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} {{resource}}"}},
	}
}
