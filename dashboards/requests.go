package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var requestsByVerb = timeSeries{header: header{id: 20, title: "Requests per minute by verb", unit: "short",
	description: "An idle controller renews its lease with get and update, and opens watches every 5 to 10 minutes. High rates of list and get are reads that the cache could answer."},
	queries: []query{{expr: `60 * sum by (@cluster, name, verb) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{verb}}"}},
}

var requestsByResource = timeSeries{header: header{id: 21, title: "Requests per minute by resource", unit: "short",
	description: "Requests of all verbs. The normal rate depends on the program. A sustained rise in an idle cluster indicates a loop of writes and events."},
	queries: []query{{expr: `60 * sum by (@cluster, name, resource) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}}"}},
}

var requestsByCode = timeSeries{header: header{id: 22, title: "Requests per minute by status code", unit: "short",
	description: "Requests by status code, counting each attempt. Normally 200, 201 and some 404. 401, 403: tokens and permissions. error: no response."},
	queries: []query{{expr: `60 * sum by (@cluster, name, code) (rate(k8s_client_requests_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{code}}"}},
}

var requestErrorRate = timeSeries{header: header{id: 30, title: "Request error rate", unit: "percentunit",
	description: "Share of requests that get no response, a 5xx or a 429. Normally 0; no data without requests. If all programs rise together, check the API server. If one does, check its network and its request rate."},
	queries: []query{{expr: `(sum by (@cluster, name) (rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[$__rate_interval])) or 0 * sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval]))) / (sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval])) > 0)`, legend: "{{@cluster}} {{name}}"}},
	goal:    &catalog.Objectives.ClientErrors,
}

var failuresByCode = timeSeries{header: header{id: 31, title: "Unsuccessful requests by resource and status", unit: "short",
	description: "404 is normal for reads of optional objects, 409 for some writes. 403: permissions. 422: invalid object. 429: too many requests. 5xx and error: API server, webhook or network."},
	stacked: true, queries: []query{{expr: occurrences(`k8s_client_requests_total{@program, code!~"[123].."}`, `@cluster, name, resource, code`), legend: "{{@cluster}} {{name}} {{resource}} {{code}}"}},
}

// conflictShare returns the share of writes that are rejected with a conflict, NaN without any. The conflicts of a resource
// have a series from its first write on. Only of programs with the library: a tenth of the writes of kube-controller-manager
// is normal.
func conflictShare(selector, by string) string {
	selector += `, name!=""`
	return occurrences(`k8s_client_conflicts_total{`+selector+`}`, by) + ` / ` + occurrences(`k8s_client_requests_total{`+selector+`, verb=~"create|update|patch|delete|deletecollection"}`, by)
}

var conflicts = timeSeries{header: header{id: 35, title: "Conflicts by resource", unit: "percentunit",
	description: "Writes rejected with 409 Conflict, as a share, by resource and subresource. A few are normal while the cache catches up; no data without writes. Many indicate two writers of the same fields, or a status written from a stale object: use server-side apply or a patch, and find the other writer in managedFields."},
	queries: []query{{expr: conflictShare("@program", writeLabels) + ` >= 0`, legend: "{{@cluster}} {{name}} {{resource}} {{subresource}}"}},
	goal:    &catalog.Objectives.WriteConflicts, top: true,
}

var clientThrottling = timeSeries{header: header{id: 40, title: "Client-side throttling p99", unit: "s",
	description: "99th percentile of the time requests wait for the client-side rate limiter. Normally 0, with peaks at startup; no data for programs that do not report the waits. It delays all requests, including lease renewals: raise QPS and burst, or send fewer requests."},
	queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, name) (rate(k8s_client_throttle_wait_seconds@bucket{@program}[$__rate_interval])))`, legend: "{{@cluster}} {{name}}"}},
	goal:    &catalog.Objectives.ClientThrottle,
}

var durationByVerb = timeSeries{header: header{id: 41, title: "Request duration p99 by verb", unit: "s",
	description: "99th percentile of the time to the response headers. Normally tens of milliseconds for single objects. Slow writes with fast reads indicate etcd or admission webhooks."},
	queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, name, verb) (rate(k8s_client_request_duration_seconds@bucket{@program}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} {{verb}}", traced: true}},
}

var readsByVersion = timeSeries{header: header{id: 23, title: "Lists and watches per minute by requested version", unit: "short",
	description: "List and watch requests per minute. Normally a few streaming and exact ones. Lists with continue or exact may bypass the watch cache and read from etcd, as do lists with unset before Kubernetes 1.31. Many lists per minute: read from an informer instead."},
	queries: []query{{expr: `60 * sum by (@cluster, name, verb, resource, resource_version) (rate(k8s_client_reads_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{verb}} {{resource}} {{resource_version}}"}},
	top:     true,
}

var readBytes = timeSeries{header: header{id: 24, title: "Bytes of lists and watches by encoding", unit: "Bps",
	description: "Bytes per second after decompression. The API server compresses lists above 128 KiB and, from 1.37 on, streaming lists, but no other watches. Large values with the encoding identity over a narrow link: select fewer objects, or use metadata-only informers."},
	queries: []query{{expr: `sum by (@cluster, name, resource, encoding) (rate(k8s_client_read_bytes_total{@program}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{resource}} {{encoding}}"}},
	top:     true,
}

var compressedShare = timeSeries{header: header{id: 34, title: "Compressed size of lists and watches", unit: "percentunit",
	description: "Bytes on the wire per byte after decompression, of compressed responses only. Normally far below 50%. Above that, compression saves little for its CPU time: set DisableCompression. No data if nothing is compressed, such as responses below 128 KiB, or without the option CompressedBytes."},
	queries: []query{{expr: `sum by (@cluster, name, resource) (rate(k8s_client_compressed_bytes_total{@program}[$__rate_interval])) / (sum by (@cluster, name, resource) (rate(k8s_client_read_bytes_total{@program, encoding="gzip"}[$__rate_interval])) > 0)`, legend: "{{@cluster}} {{name}} {{resource}}"}},
	top:     true,
}

// The conflicts of a resource have a series from its first write on: "or 0 *" returns 0 until its first unchanged write.
var unchangedWrites = timeSeries{header: header{id: 36, title: "Unchanged writes", unit: "short",
	description: "Updates and patches that changed nothing: the response has the version that the object already had. Normally near 0; no data without writes. Compare with the cached object before writing. Without a subresource: a status written through the main resource also counts, because the API server answers 200 and ignores it. Write it to the subresource status."},
	queries: []query{{expr: occurrences(`k8s_client_unchanged_writes_total{@program}`, writeLabels) + ` or 0 * ` + occurrences(`k8s_client_conflicts_total{@program}`, writeLabels), legend: "{{@cluster}} {{name}} {{resource}} {{subresource}}"}},
	top:     true,
}

const writeLabels = `@cluster, name, resource, subresource`

var openWatchesByProgram = timeSeries{header: header{id: 37, title: "Open watches by program", unit: "short",
	description: "Open watches of informers, for the process with the most. Normally one per informer. Each costs the API server memory and CPU for every event: share informers between controllers, and watch all namespaces with one informer."},
	queries: []query{{expr: `max by (@cluster, name) (sum by (@cluster, name, @instance) (max by (` + processLabels + `) (k8s_informer_watch_connected{@program})))`, legend: legendProgram}},
	top:     true,
}
