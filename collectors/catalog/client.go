package catalog

// Requests to the API server, as the client sees them.
var (
	ClientRequests = counter(Metric{
		Name:      "k8s_client_requests_total",
		Help:      "Number of requests to the API server, by verb, resource, subresource and status code.",
		Notes:     "Every attempt counts.",
		Family:    familyClient,
		Labels:    client(labelVerb, LabelResource, labelSubresource, labelCode),
		Essential: true,
	})
	ClientRequestDuration = histogram(Metric{
		Name:    "k8s_client_request_duration_seconds",
		Help:    "Time from sending a request to the headers of its response, or to its failure, in seconds.",
		Notes:   "Excludes the body of the response, such as the events of a watch. Unlike k8s_client_requests_total, it has no `resource` label: with buckets for each resource, it would account for most of the series of a program.",
		Family:  familyClient,
		Labels:  client(labelVerb),
		Buckets: requestBuckets,
	})
	ClientConflicts = counter(Metric{
		Name:      "k8s_client_conflicts_total",
		Help:      "Number of writes that the API server rejected with 409 Conflict because the object has changed.",
		Notes:     "The creation of an object that already exists does not count.",
		Family:    familyClient,
		Labels:    client(LabelResource, labelSubresource),
		Essential: true,
	})
	ClientReads = counter(Metric{
		Name:   "k8s_client_reads_total",
		Help:   "Number of list and watch requests, by verb, resource and requested resource version.",
		Notes:  "Every attempt counts. A series exists from the first such request.",
		Family: familyClient,
		Labels: client(labelVerb, LabelResource, labelRequestedVersion),
	})
	ClientReadBytes = counter(Metric{
		Name:   "k8s_client_read_bytes_total",
		Help:   "Bytes of list and watch responses after decompression, by resource and the encoding on the wire.",
		Notes:  "With the encoding identity, these are the bytes on the wire. A series exists from the first such response.",
		Family: familyClient,
		Labels: client(LabelResource, labelWireEncoding),
	})
	ClientCompressedBytes = counter(Metric{
		Name:   "k8s_client_compressed_bytes_total",
		Help:   "Bytes of compressed list and watch responses on the wire, before decompression, by resource.",
		Notes:  "Compare with the encoding gzip of k8s_client_read_bytes_total. Excludes headers and TLS. Programs count them only with the option CompressedBytes of apiclient.WrapConfigWithOptions; the exporter always does. A series exists from the first such response.",
		Family: familyClient,
		Labels: client(LabelResource),
	})
	ClientUnchangedWrites = counter(Metric{
		Name:   "k8s_client_unchanged_writes_total",
		Help:   "Number of updates and patches that changed nothing: the response has the version that the object already had.",
		Notes:  "A write without a resource version, like most patches, is compared with the response to the last write of the process to the same object. The first such write to an object is not counted, nor is the first after another client changed it, and up to 10,000 objects are remembered. Includes status written through the main resource of an object with a status subresource, which the API server ignores with the code 200. A series exists from the first such write.",
		Family: familyClient,
		Labels: client(LabelResource, labelSubresource),
	})
	ClientThrottleWait = histogram(Metric{
		Name:             "k8s_client_throttle_wait_seconds",
		Help:             "Time that requests waited for the client-side rate limiter in seconds.",
		Notes:            "Includes requests that did not have to wait. Absent if the program leaves rest.Config.RateLimiter unset and does not register apiclient.NewMetrics, which observes the rate limiters that client-go creates.",
		Family:           familyClient,
		Labels:           client(),
		Buckets:          requestBuckets,
		Essential:        true,
		EssentialBuckets: []float64{1, 4},
	})
)
