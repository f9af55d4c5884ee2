package catalog

// Work queues and retries, in addition to client-go's own workqueue_* metrics (upstream.go).
var (
	ControllerItemRetries = histogram(familyQueues, Metric{
		Name:    "controller_item_retries",
		Help:    "Number of retries per item, observed when the rate limiter forgets the item.",
		Notes:   "0 is success at the first attempt. `controller_item_retries_max` has items that are still retried.",
		Labels:  controller(),
		Buckets: retryBuckets,
	})
	ControllerItemRetriesMax = gauge(familyQueues, Metric{
		Name:      "controller_item_retries_max",
		Help:      "Highest number of retries of an item that is still being retried, 0 without such an item.",
		Notes:     "Until the rate limiter forgets the item, or 30 minutes after its last backoff. Above the objective, the log names an item. Always 0 if the rate limiter does not count retries, as with a token bucket alone.",
		Labels:    controller(),
		Essential: true,
	})
	ControllerBackoff = histogram(familyQueues, Metric{
		Name:    "controller_backoff_seconds",
		Help:    "Backoff before the next attempt of an item in seconds, observed once per retry.",
		Notes:   "client-go's default doubles from 5 ms to 1000 s.",
		Labels:  controller(),
		Buckets: backoffBuckets,
	})
	ControllerQueueDelayedItems = gauge(familyQueues, Metric{
		Name:   "controller_queue_delayed_items",
		Help:   "Number of delayed items, in backoff or added with a delay.",
		Notes:  "Delayed items are not part of workqueue_depth.",
		Labels: controller(),
	})
	ControllerQueueOldestItem = gauge(familyQueues, Metric{
		Name:   "controller_queue_oldest_item_seconds",
		Help:   "Age of the oldest ready item in the queue in seconds, 0 if the queue is empty.",
		Notes:  "Rises while workers hang, unlike `workqueue_queue_duration_seconds`.",
		Labels: controller(),
	})
	ControllerRunningWorkers = gauge(familyQueues, Metric{
		Name:      "controller_running_workers",
		Help:      "Number of workers waiting for an item from the queue or processing one.",
		Notes:     "Standby replicas have 0. On the leader, fewer than `controller_max_workers` for several minutes means that workers have exited. A worker counts once for each item that it processes.",
		Labels:    controller(),
		Essential: true,
	})
	ControllerQueueCoalesced = counter(familyQueues, Metric{
		Name:   "controller_queue_coalesced_total",
		Help:   "Number of coalesced adds: the item was already in the queue.",
		Notes:  "Several events became one reconcile.",
		Labels: controller(),
	})
	ControllerDropped = counter(familyQueues, Metric{
		Name:      "controller_dropped_total",
		Help:      "Number of dropped items, by reason.",
		Notes:     "Absent in programs that report none. `shutdown` covers items that failed during the shutdown, or were queued or delayed at its end.",
		Labels:    controller(labelDropReason),
		Essential: true,
	})
	ControllerTraceLinksDropped = counter(familyQueues, Metric{
		Name:   "controller_trace_links_dropped_total",
		Help:   "Number of reconcile causes for which no trace link was recorded, by reason.",
		Notes:  "A reconcile has at most 32 links, and a controller keeps causes of at most 10,000 items. Absent without tracing.",
		Labels: client(labelTraceDropReason),
		AtZero: []string{"links", "items"},
	})
)
