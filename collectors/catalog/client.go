package catalog

// Requests to the API server, as the client sees them.
var (
	ClientRequests = counter(Metric{
		Name:   "k8s_client_requests_total",
		Help:   "Number of requests to the API server, by verb, resource, subresource and status code.",
		Notes:  "Every attempt counts.",
		Family: familyClient,
		Labels: client(labelVerb, LabelResource, labelSubresource, labelCode),
		Covers: []string{"S17"},
	})
	ClientRequestDuration = histogram(Metric{
		Name:    "k8s_client_request_duration_seconds",
		Help:    "Time from sending a request to the headers of its response, or to its failure, in seconds.",
		Notes:   "For watches and lists, excludes what follows the headers.",
		Family:  familyClient,
		Labels:  client(labelVerb, LabelResource),
		Buckets: requestBuckets,
		Covers:  []string{"S17", "B1"},
	})
	ClientConflicts = counter(Metric{
		Name:   "k8s_client_conflicts_total",
		Help:   "Number of writes that the API server rejected with 409 Conflict, because the object changed or exists.",
		Family: familyClient,
		Labels: client(LabelResource, labelSubresource),
		Covers: []string{"S17"},
	})
	ClientThrottleWait = histogram(Metric{
		Name:    "k8s_client_throttle_wait_seconds",
		Help:    "Time that requests waited for the client-side rate limiter in seconds.",
		Notes:   "Includes requests that did not have to wait. Absent if the program leaves rest.Config.RateLimiter unset and does not register apiclient.NewMetrics, which observes the rate limiters that client-go creates.",
		Family:  familyClient,
		Labels:  client(),
		Buckets: requestBuckets,
		Covers:  []string{"S17"},
	})
)
