package catalog

// client-go's own metrics of informers, with the names, labels and meaning that Kubernetes' component-base gives them.
var (
	UpstreamQueuedItems = gauge(familyUpstream, Metric{
		Name:   "informer_queued_items",
		Help:   "Number of items in client-go's queue between the watch and the cache.",
		Labels: upstream(),
	})
	UpstreamProcessingLatency = histogram(familyUpstream, Metric{
		Name:    "informer_processing_latency_seconds",
		Help:    "Time to store and distribute a batch of items from client-go's queue in seconds.",
		Notes:   "Includes the handlers only for informers that are not shared.",
		Labels:  upstream(),
		Buckets: upstreamBuckets,
	})
	UpstreamStoreResourceVersion = gauge(familyUpstream, Metric{
		Name:   "informer_store_resource_version",
		Help:   "Resource version of the cache, as its 15 least significant digits.",
		Labels: upstream(),
	})
)

// upstream returns the labels of client-go's metrics.
func upstream() []Label {
	return []Label{
		{Name: LabelName.Name, Help: "name given to cache.NewInformerName"},
		{Name: "group", Help: "API group, empty for the core group"},
		{Name: "version", Help: "API version"},
		{Name: "resource", Help: "resource, without its group"},
	}
}

// client-go's own metrics of work queues, with the names, labels, buckets and meaning that Kubernetes' component-base
// gives them (k8s.io/component-base/metrics/prometheus/workqueue).
var (
	UpstreamQueueDepth = gauge(familyUpstream, Metric{
		Name:   "workqueue_depth",
		Help:   "Queue depth: number of items waiting in the queue.",
		Notes:  "Includes items added again while they are being processed.",
		Labels: upstreamQueue(),
	})
	UpstreamQueueAdds = counter(familyUpstream, Metric{
		Name:   "workqueue_adds_total",
		Help:   "Number of items added to the queue.",
		Notes:  "Excludes items that were already in the queue.",
		Labels: upstreamQueue(),
	})
	UpstreamQueueLatency = histogram(familyUpstream, Metric{
		Name:    "workqueue_queue_duration_seconds",
		Help:    "Queue latency in seconds: from the add of an item until a worker takes it.",
		Notes:   "Includes the rest of processing if the item was added during it.",
		Labels:  upstreamQueue(),
		Buckets: upstreamQueueBuckets,
	})
	UpstreamQueueWorkDuration = histogram(familyUpstream, Metric{
		Name:    "workqueue_work_duration_seconds",
		Help:    "Work duration in seconds: time a worker takes to process an item.",
		Labels:  upstreamQueue(),
		Buckets: upstreamQueueBuckets,
	})
	UpstreamQueueUnfinishedWork = gauge(familyUpstream, Metric{
		Name:   "workqueue_unfinished_work_seconds",
		Help:   "Unfinished work in seconds, summed over all workers.",
		Notes:  "Large values indicate stuck workers. client-go updates it twice a second.",
		Labels: upstreamQueue(),
	})
	UpstreamQueueLongestRunning = gauge(familyUpstream, Metric{
		Name:   "workqueue_longest_running_processor_seconds",
		Help:   "Duration in seconds for which the longest running processor has been running.",
		Notes:  "client-go updates it twice a second.",
		Labels: upstreamQueue(),
	})
	UpstreamQueueRetries = counter(familyUpstream, Metric{
		Name:   "workqueue_retries_total",
		Help:   "Number of items added with a delay, with or without backoff.",
		Labels: upstreamQueue(),
	})
)

// upstreamQueue returns the labels of client-go's metrics of work queues.
func upstreamQueue() []Label {
	return []Label{{Name: LabelName.Name, Help: "name of the queue"}}
}

// client-go's own metrics of leader election, with the names, labels and meaning that Kubernetes' component-base gives
// them (k8s.io/component-base/metrics/prometheus/clientgo/leaderelection).
var (
	UpstreamLeaderStatus = gauge(familyUpstream, Metric{
		Name:   "leader_election_master_status",
		Help:   "Whether the process is the leader (1) or a candidate (0).",
		Labels: upstreamLock(),
	})
	UpstreamLeaderSlowpath = counter(familyUpstream, Metric{
		Name:   "leader_election_slowpath_total",
		Help:   "Number of renewals that had to read the lock first, because updating it had failed.",
		Labels: upstreamLock(),
	})
)

// upstreamLock returns the labels of client-go's metrics of leader election.
func upstreamLock() []Label {
	return []Label{{Name: LabelName.Name, Help: "name of the lock"}}
}
