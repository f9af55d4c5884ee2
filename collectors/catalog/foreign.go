package catalog

// Metrics of programs without the library. The library does not report them; dashboards and alerts read them where a program
// does not report the library's metric.

// Metrics of controller-runtime.
var (
	runtimeReconcile = counter(familyForeign, Metric{
		Name:   "controller_runtime_reconcile_total",
		Help:   "Number of reconciles, by result.",
		Notes:  "Terminal errors and panics count as error.",
		Labels: []Label{LabelController, closed("result", "how the reconcile of a controller without the library ended", "success", "error", "requeue", "requeue_after")},
	})
	runtimeTerminalErrors = counter(familyForeign, Metric{
		Name:   "controller_runtime_terminal_reconcile_errors_total",
		Help:   "Number of reconciles that ended in a terminal error.",
		Labels: []Label{LabelController},
	})
	runtimePanics = counter(familyForeign, Metric{
		Name:   "controller_runtime_reconcile_panics_total",
		Help:   "Number of reconciles that panicked and were recovered.",
		Labels: []Label{LabelController},
	})
	runtimeDuration = histogram(familyForeign, Metric{
		Name:    "controller_runtime_reconcile_time_seconds",
		Help:    "Duration of reconciles in seconds.",
		Labels:  []Label{LabelController},
		Buckets: runtimeBuckets,
	})
	runtimeActiveWorkers = gauge(familyForeign, Metric{
		Name:   "controller_runtime_active_workers",
		Help:   "Number of workers that are reconciling.",
		Labels: []Label{LabelController},
	})
	runtimeMaxWorkers = gauge(familyForeign, Metric{
		Name:   "controller_runtime_max_concurrent_reconciles",
		Help:   "Maximum number of workers of the controller.",
		Labels: []Label{LabelController},
	})
)

// Metrics of controller-runtime 0.25 and 0.24.
var (
	// RuntimeConsistencyWait has series in operators that enable the consistency of reads with their own writes.
	RuntimeConsistencyWait = histogram(familyForeign, Metric{
		Name: "controller_runtime_client_consistency_wait_duration_seconds",
		Help: "Time that reads waited until the cache had the program's own writes in seconds, by operation and result.",
		Labels: []Label{
			{Name: "operation", Help: "get or list"},
			closed("result", "how the wait ended", "success", "timeout", "error"),
		},
		Buckets: consistencyBuckets,
	})
	RuntimeReconcileTimeouts = counter(familyForeign, Metric{
		Name:   "controller_runtime_reconcile_timeouts_total",
		Help:   "Number of reconciles that exceeded the controller's reconciliation timeout.",
		Labels: []Label{LabelController},
	})
)

// Metrics of kube-state-metrics, with a series for each object in its cache.
var (
	statePods = gauge(familyForeign, Metric{
		Name: "kube_pod_info",
		Help: "Pods in the cache of kube-state-metrics, always 1.",
	})
	stateDeployments = gauge(familyForeign, Metric{
		Name: "kube_deployment_spec_replicas",
		Help: "Number of desired replicas of each of the Deployments in the cache of kube-state-metrics.",
	})
)

// Metrics of kube-controller-manager 1.36, and 1.37 for HorizontalPodAutoscalers. The stale resource is in the labels.
var (
	skippedDaemonSets = counter(familyForeign, Metric{
		Name:   "daemonset_controller_stale_sync_skips_total",
		Help:   "Number of syncs of DaemonSets that were skipped, because a cache was older than the controller's own last write.",
		Labels: ofServer(),
	})
	skippedHPAs = counter(familyForeign, Metric{
		Name:   "horizontal_pod_autoscaler_controller_stale_sync_skips_total",
		Help:   "Number of syncs of HorizontalPodAutoscalers that were skipped, because a cache was older than the controller's own last write.",
		Labels: ofServer(),
	})
	skippedJobs = counter(familyForeign, Metric{
		Name:   "job_controller_stale_sync_skips_total",
		Help:   "Number of syncs of Jobs that were skipped, because a cache was older than the controller's own last write.",
		Labels: ofServer(),
	})
	// SkippedReplicaSets stands for all five in the objective.
	SkippedReplicaSets = counter(familyForeign, Metric{
		Name:   "replicaset_controller_stale_sync_skips_total",
		Help:   "Number of syncs of ReplicaSets that were skipped, because a cache was older than the controller's own last write.",
		Labels: ofServer(),
	})
	skippedStatefulSets = counter(familyForeign, Metric{
		Name:   "statefulset_controller_stale_sync_skips_total",
		Help:   "Number of syncs of StatefulSets that were skipped, because a cache was older than the controller's own last write.",
		Labels: ofServer(),
	})
)

// Metrics of client-go's REST client, with the names that component-base and controller-runtime give them.
var (
	restRequests = counter(familyForeign, Metric{
		Name: "rest_client_requests_total",
		Help: "Number of HTTP requests, by status code, method and host.",
		Labels: []Label{
			{Name: "code", Help: "HTTP status code of the response, `<error>` without a response"},
			{Name: "method", Help: "HTTP method of the request"}, labelHost,
		},
	})
	restDuration = histogram(familyForeign, Metric{
		Name:    "rest_client_request_duration_seconds",
		Help:    "Time to the response headers of a request in seconds, by verb and host.",
		Notes:   "controller-runtime reports it only after `metrics.RegisterRESTClientMetrics`.",
		Labels:  []Label{{Name: "verb", Help: "HTTP method of the request"}, labelHost},
		Buckets: restBuckets,
	})
	restThrottling = histogram(familyForeign, Metric{
		Name:    "rest_client_rate_limiter_duration_seconds",
		Help:    "Time that requests waited for the client-side rate limiter in seconds, by verb and host.",
		Notes:   "controller-runtime reports it only after `metrics.RegisterRESTClientMetrics`.",
		Labels:  []Label{{Name: "verb", Help: "HTTP method of the request"}, labelHost},
		Buckets: restBuckets,
	})
)

var labelHost = Label{Name: "host", Help: "host and port of the API server"}

// Metrics of kube-apiserver about its watches: the other side of every informer.
var (
	// ServerTerminatedWatchers is created with its first event.
	ServerTerminatedWatchers = counter(familyServer, Metric{
		Name:   "apiserver_terminated_watchers_total",
		Help:   "Number of watches that the API server closed because the client read too slowly.",
		Labels: ofServer(),
	})
	// ServerConsistencyChecks is created with the first check, five minutes after the start.
	ServerConsistencyChecks = counter(familyServer, Metric{
		Name:   "apiserver_storage_consistency_checks_total",
		Help:   "Number of comparisons of the API server's watch cache with etcd, by status.",
		Notes:  "The status `failure` is a difference between the two; `error` is a comparison that was not possible.",
		Labels: ofServer(closed("status", "how the comparison ended", "success", "failure", "error")),
	})
	// ServerConsistentReads is created with the first read of a resource.
	ServerConsistentReads = counter(familyServer, Metric{
		Name: "apiserver_watch_cache_consistent_read_total",
		Help: "Number of consistent lists that the watch cache should serve, by success and by fallback to etcd.",
		Labels: ofServer(
			closed("success", "whether the list succeeded", "true", "false"),
			closed("fallback", "whether the watch cache was late, and etcd served the list", "true", "false"),
		),
	})
	// ServerDispatch needs Kubernetes 1.37.
	ServerDispatch = histogram(familyServer, Metric{
		Name:    "apiserver_watch_events_dispatch_duration_seconds",
		Help:    "Time from the arrival of an event from etcd to its watchers in seconds, by stage.",
		Labels:  ofServer(closed("stage", "part of the way, or total", "total", "storage_to_cache", "cache_to_watcher")),
		Buckets: dispatchBuckets,
	})
	serverReadWait = histogram(familyServer, Metric{
		Name:    "apiserver_watch_cache_read_wait_seconds",
		Help:    "Time that reads waited for the watch cache to become fresh in seconds.",
		Labels:  ofServer(),
		Buckets: readWaitBuckets,
	})
	serverInitializations = counter(familyServer, Metric{
		Name:   "apiserver_watch_cache_initializations_total",
		Help:   "Number of initializations of a watch cache.",
		Labels: ofServer(),
	})
	serverWatchList = histogram(familyServer, Metric{
		Name:    "apiserver_watch_list_duration_seconds",
		Help:    "Time to send the initial events of a streaming list in seconds.",
		Labels:  ofServer(Label{Name: "version", Help: "API version"}, labelScope),
		Buckets: serverBuckets,
	})
	serverRejected = counter(familyServer, Metric{
		Name: "apiserver_flowcontrol_rejected_requests_total",
		Help: "Number of requests that API priority and fairness rejected with 429.",
		Labels: []Label{
			{Name: "priority_level", Help: "priority level of the request"},
			{Name: "flow_schema", Help: "flow schema of the request"},
			{Name: "reason", Help: "why the request was rejected"},
		},
	})
	serverLongRunning = gauge(familyServer, Metric{
		Name: "apiserver_longrunning_requests",
		Help: "Number of open long-running requests, such as watches.",
		Labels: ofServer(
			Label{Name: "version", Help: "API version"}, labelScope,
			Label{Name: "verb", Help: "verb of the request, in capital letters"},
			Label{Name: "subresource", Help: "subresource or path of the request"},
			Label{Name: "component", Help: "component of the API server"},
		),
	})
)

var labelScope = Label{Name: "scope", Help: "scope of the request: cluster, namespace or resource"}

// ofServer returns the labels of a metric of the API server about a resource.
func ofServer(more ...Label) []Label {
	return append([]Label{
		{Name: "group", Help: "API group, empty for the core group"},
		{Name: "resource", Help: "resource, without its group"},
	}, more...)
}
