package catalog

// Requests to the API server, as the client sees them.
var (
	ClientRequests = counter(Metric{
		Name:      "k8s_client_requests_total",
		Help:      "Number of requests to the API server, by verb, resource, subresource and status code.",
		Notes:     "Every attempt counts.",
		Family:    familyClient,
		Labels:    client(labelVerb, LabelResource, labelSubresource, labelCode),
		Covers:    []string{"S17"},
		Essential: true,
	})
	ClientRequestDuration = histogram(Metric{
		Name:    "k8s_client_request_duration_seconds",
		Help:    "Time from sending a request to the headers of its response, or to its failure, in seconds.",
		Notes:   "Excludes the body of the response, such as the events of a watch. Unlike k8s_client_requests_total, it has no `resource` label: with buckets for each resource, it would account for most of the series of a program.",
		Family:  familyClient,
		Labels:  client(labelVerb),
		Buckets: requestBuckets,
		Covers:  []string{"S17", "B1"},
	})
	ClientConflicts = counter(Metric{
		Name:   "k8s_client_conflicts_total",
		Help:   "Number of writes that the API server rejected with 409 Conflict, because the object has changed or already exists.",
		Family: familyClient,
		Labels: client(LabelResource, labelSubresource),
		Covers: []string{"S17"},
	})
	ClientReads = counter(Metric{
		Name:   "k8s_client_reads_total",
		Help:   "Number of list and watch requests, by verb, resource and requested resource version.",
		Notes:  "Every attempt counts. A series exists from the first such request.",
		Family: familyClient,
		Labels: client(labelVerb, LabelResource, labelRequestedVersion),
		Covers: []string{"S26", "B1"},
	})
	ClientReadBytes = counter(Metric{
		Name:   "k8s_client_read_bytes_total",
		Help:   "Bytes of list and watch responses after decompression, by resource and the encoding on the wire.",
		Notes:  "With the encoding identity, these are the bytes on the wire. A series exists from the first such response.",
		Family: familyClient,
		Labels: client(LabelResource, labelWireEncoding),
		Covers: []string{"S25"},
	})
	ClientCompressedBytes = counter(Metric{
		Name:   "k8s_client_compressed_bytes_total",
		Help:   "Bytes of compressed list and watch responses on the wire, before decompression, by resource.",
		Notes:  "Compare with the encoding gzip of k8s_client_read_bytes_total. Excludes headers and TLS. Programs count them only with the option CompressedBytes of apiclient.WrapConfigWithOptions; the exporter always does. A series exists from the first such response.",
		Family: familyClient,
		Labels: client(LabelResource),
		Covers: []string{"S25"},
	})
	ClientUnchangedWrites = counter(Metric{
		Name:   "k8s_client_unchanged_writes_total",
		Help:   "Number of updates and patches that changed nothing: the response has the resource version of the request.",
		Notes:  "Patches and updates without a resource version are not compared. A series exists from the first such write.",
		Family: familyClient,
		Labels: client(LabelResource, labelSubresource),
		Covers: []string{"S36"},
	})
	ClientThrottleWait = histogram(Metric{
		Name:             "k8s_client_throttle_wait_seconds",
		Help:             "Time that requests waited for the client-side rate limiter in seconds.",
		Notes:            "Includes requests that did not have to wait. Absent if the program leaves rest.Config.RateLimiter unset and does not register apiclient.NewMetrics, which observes the rate limiters that client-go creates.",
		Family:           familyClient,
		Labels:           client(),
		Buckets:          requestBuckets,
		Covers:           []string{"S17"},
		Essential:        true,
		EssentialBuckets: []float64{1, 4},
	})
)
