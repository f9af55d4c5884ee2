package catalog

// Requests to the API server, as the client sees them.
var (
	ClientRequests = counter(Metric{
		Name:   "k8s_client_requests_total",
		Help:   "Requests to the API server by what they asked for and the status of the answer. Each attempt counts.",
		Family: Client,
		Labels: client(LabelVerb, LabelResource, LabelSubresource, LabelCode),
		Covers: []string{"S17"},
	})
	ClientRequestDuration = histogram(Metric{
		Name:    "k8s_client_request_duration_seconds",
		Help:    "Seconds from sending a request to the headers of its answer, or to its failure; for watches and lists what follows the headers is not included.",
		Family:  Client,
		Labels:  client(LabelVerb, LabelResource),
		Buckets: requestBuckets,
		Covers:  []string{"S17", "B1"},
	})
	ClientConflicts = counter(Metric{
		Name:   "k8s_client_conflicts_total",
		Help:   "Writes that the API server refused with 409 Conflict, because the object had changed or exists.",
		Family: Client,
		Labels: client(LabelResource, LabelSubresource),
		Covers: []string{"S17"},
	})
	ClientThrottleWait = histogram(Metric{
		Name:    "k8s_client_throttle_wait_seconds",
		Help:    "Seconds that requests waited for the client's own rate limiter, those that did not have to wait included. There are none where the program leaves rest.Config.RateLimiter unset: the limiter that client-go makes of QPS and Burst cannot be observed.",
		Family:  Client,
		Labels:  client(),
		Buckets: requestBuckets,
		Covers:  []string{"S17"},
	})
)
