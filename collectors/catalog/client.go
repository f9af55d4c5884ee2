package catalog

// Requests to the API server, as the client sees them.
var (
	ClientRequests = counter(familyClient, Metric{
		Name:      "k8s_client_requests_total",
		Help:      "Number of requests to the API server, by verb, resource, subresource and status code.",
		Notes:     "Every attempt counts.",
		Labels:    client(labelVerb, LabelResource, labelSubresource, labelCode),
		Essential: true,
	})
	ClientRequestDuration = histogram(familyClient, Metric{
		Name:    "k8s_client_request_duration_seconds",
		Help:    "Time from sending a request to the headers of its response, or to its failure, in seconds.",
		Notes:   "Excludes the response body, such as the events of a watch. Has no `resource` label, to save series.",
		Labels:  client(labelVerb),
		Buckets: requestBuckets,
	})
	ClientConflicts = counter(familyClient, Metric{
		Name:      "k8s_client_conflicts_total",
		Help:      "Number of writes that the API server rejected with 409 Conflict because the object has changed.",
		Notes:     "The creation of an object that already exists does not count.",
		Labels:    client(LabelResource, labelSubresource),
		Essential: true,
	})
	ClientReads = counter(familyClient, Metric{
		Name:   "k8s_client_reads_total",
		Help:   "Number of list and watch requests, by verb, resource and requested resource version.",
		Notes:  "Every attempt counts.",
		Labels: client(labelVerb, LabelResource, labelRequestedVersion),
	})
	ClientReadBytes = counter(familyClient, Metric{
		Name:   "k8s_client_read_bytes_total",
		Help:   "Bytes of list and watch responses after decompression, by resource and the encoding on the wire.",
		Notes:  "With `identity`, these are the bytes on the wire.",
		Labels: client(LabelResource, labelWireEncoding),
	})
	ClientCompressedBytes = counter(familyClient, Metric{
		Name:   "k8s_client_compressed_bytes_total",
		Help:   "Bytes of compressed list and watch responses on the wire, before decompression, by resource.",
		Notes:  "Compare with `gzip` of `k8s_client_read_bytes_total`. Excludes headers and TLS. Programs need the option CompressedBytes of apiclient.WrapConfig; the exporter has it.",
		Labels: client(LabelResource),
	})
	ClientUnchangedWrites = counter(familyClient, Metric{
		Name:   "k8s_client_unchanged_writes_total",
		Help:   "Number of updates and patches that changed nothing: the response has the version that the object already had.",
		Notes:  "Most patches have no resource version: they are compared with the last write of the process to the object, for up to 10,000 objects. The first such write, and the first after another client's, is not counted. Includes status written through the main resource, which the API server ignores with code 200 if there is a status subresource.",
		Labels: client(LabelResource, labelSubresource),
	})
	ClientWriteEcho = histogram(familyClient, Metric{
		Name:    "k8s_client_write_echo_seconds",
		Help:    "Time from the response to the program's own write until its own watch delivers that version, in seconds.",
		Notes:   "0 if the event arrived first. Once per decorated informer that sees the object. None for writes that change nothing, or have a response without the object, as most deletes.",
		Labels:  client(LabelResource),
		Buckets: lagBuckets,
	})
	ClientWritesWithoutEcho = gauge(familyClient, Metric{
		Name:   "k8s_client_writes_without_echo",
		Help:   "Number of the program's own writes with versions that its own watch has not reached.",
		Notes:  "Up to 1,024 per informer. Those that its selector excludes count until its next event or bookmark, about a minute.",
		Labels: client(LabelResource),
	})
	ClientOldestWriteWithoutEcho = gauge(familyClient, Metric{
		Name:   "k8s_client_oldest_write_without_echo_seconds",
		Help:   "Time in seconds since the response to the oldest of the writes without an echo, 0 if there is none.",
		Labels: client(LabelResource),
	})
	ClientThrottleWait = histogram(familyClient, Metric{
		Name:             "k8s_client_throttle_wait_seconds",
		Help:             "Time that requests waited for the client-side rate limiter in seconds.",
		Notes:            "Includes requests that did not wait. Absent if rest.Config.RateLimiter is unset and the program does not register apiclient.NewMetrics.",
		Labels:           client(),
		Buckets:          requestBuckets,
		Essential:        true,
		EssentialBuckets: []float64{1, 4},
	})
)
