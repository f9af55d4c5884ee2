package catalog

// client-go's own metrics of informers, with the names, labels and meaning that Kubernetes' component-base gives them.
var (
	UpstreamQueuedItems = gauge(Metric{
		Name:   "informer_queued_items",
		Help:   "Items in client-go's queue between the connection and the cache, as client-go last set it: when items are added and when they are taken.",
		Family: Upstream,
		Labels: upstream(),
	})
	UpstreamProcessingLatency = histogram(Metric{
		Name:    "informer_processing_latency_seconds",
		Help:    "Seconds to store one or more items that were taken from client-go's queue and to pass them on. Shared informers do not wait for their handlers there; others call theirs.",
		Family:  Upstream,
		Labels:  upstream(),
		Buckets: upstreamBuckets,
	})
	UpstreamStoreResourceVersion = gauge(Metric{
		Name:   "informer_store_resource_version",
		Help:   "The 15 least significant digits of the resourceVersion that the cache has reached.",
		Family: Upstream,
		Labels: upstream(),
	})
)

// upstream returns the labels of client-go's metrics.
func upstream() []Label {
	return []Label{
		{Name: LabelName.Name, Help: "name given to cache.NewInformerName, or to collectors.New for all other metrics"},
		{Name: "group", Help: "API group, empty for the core group"},
		{Name: "version", Help: "API version"},
		{Name: "resource", Help: "resource, without its group"},
	}
}

// client-go's own metrics of work queues, with the names, labels, buckets and meaning that Kubernetes' component-base
// gives them (k8s.io/component-base/metrics/prometheus/workqueue).
var (
	UpstreamQueueDepth = gauge(Metric{
		Name:   "workqueue_depth",
		Help:   "Items that wait in the queue, those included that were added again while they are worked on.",
		Family: Upstream,
		Labels: upstreamQueue(),
		Covers: []string{"S7", "S9"},
	})
	UpstreamQueueAdds = counter(Metric{
		Name:   "workqueue_adds_total",
		Help:   "Items added to the queue, those that were in it already not included.",
		Family: Upstream,
		Labels: upstreamQueue(),
		Covers: []string{"S7"},
	})
	UpstreamQueueLatency = histogram(Metric{
		Name:    "workqueue_queue_duration_seconds",
		Help:    "Seconds from the moment that an item was added until a worker took it. If it was added while it was worked on, the rest of that work is part of it.",
		Family:  Upstream,
		Labels:  upstreamQueue(),
		Buckets: upstreamQueueBuckets,
		Covers:  []string{"S7"},
	})
	UpstreamQueueWorkDuration = histogram(Metric{
		Name:    "workqueue_work_duration_seconds",
		Help:    "Seconds that a worker took for an item.",
		Family:  Upstream,
		Labels:  upstreamQueue(),
		Buckets: upstreamQueueBuckets,
		Covers:  []string{"S8"},
	})
	UpstreamQueueUnfinishedWork = gauge(Metric{
		Name:   "workqueue_unfinished_work_seconds",
		Help:   "Seconds of work in progress that workqueue_work_duration_seconds has not seen yet, over all workers, as client-go last updated it: twice a second. Large values are workers that hang.",
		Family: Upstream,
		Labels: upstreamQueue(),
		Covers: []string{"S8"},
	})
	UpstreamQueueLongestRunning = gauge(Metric{
		Name:   "workqueue_longest_running_processor_seconds",
		Help:   "Seconds that the worker which has been busy longest has been so, as client-go last updated it: twice a second.",
		Family: Upstream,
		Labels: upstreamQueue(),
		Covers: []string{"S8"},
	})
	UpstreamQueueRetries = counter(Metric{
		Name:   "workqueue_retries_total",
		Help:   "Items added with a delay, with back-off or without.",
		Family: Upstream,
		Labels: upstreamQueue(),
		Covers: []string{"S8"},
	})
)

// upstreamQueue returns the labels of client-go's metrics of work queues.
func upstreamQueue() []Label {
	return []Label{{Name: LabelName.Name, Help: "name of the queue"}}
}

// client-go's own metrics of leader election, with the names, labels and meaning that Kubernetes' component-base gives
// them (k8s.io/component-base/metrics/prometheus/clientgo/leaderelection).
var (
	UpstreamLeaderStatus = gauge(Metric{
		Name:   "leader_election_master_status",
		Help:   "Whether the process is the leader: 1, or 0 for a candidate.",
		Family: Upstream,
		Labels: upstreamLock(),
		Covers: []string{"S10"},
	})
	UpstreamLeaderSlowpath = counter(Metric{
		Name:   "leader_election_slowpath_total",
		Help:   "Renewals of the lock that had to read it first, because updating it had failed.",
		Family: Upstream,
		Labels: upstreamLock(),
		Covers: []string{"S10"},
	})
)

// upstreamLock returns the labels of client-go's metrics of leader election.
func upstreamLock() []Label {
	return []Label{{Name: LabelName.Name, Help: "name of the lock"}}
}
