package catalog

// Work queues and retries, in addition to client-go's own workqueue_* metrics (upstream.go).
var (
	ControllerItemRetries = histogram(Metric{
		Name:    "controller_item_retries",
		Help:    "Number of retries per item, observed when the rate limiter forgets the item.",
		Notes:   "The rate limiter forgets an item when it succeeds or is dropped. 0 is success at the first attempt.",
		Family:  familyQueues,
		Labels:  controller(),
		Buckets: retryBuckets,
		Covers:  []string{"S8"},
	})
	ControllerBackoff = histogram(Metric{
		Name:    "controller_backoff_seconds",
		Help:    "Backoff before the next attempt of an item in seconds, observed once per retry.",
		Notes:   "The default of client-go doubles from 5 ms to 1000 s.",
		Family:  familyQueues,
		Labels:  controller(),
		Buckets: backoffBuckets,
		Covers:  []string{"S8", "O6"},
	})
	ControllerQueueDelayedItems = gauge(Metric{
		Name:   "controller_queue_delayed_items",
		Help:   "Number of delayed items, in backoff or added with a delay.",
		Notes:  "Delayed items are not part of workqueue_depth.",
		Family: familyQueues,
		Labels: controller(),
		Covers: []string{"S8"},
	})
	ControllerQueueOldestItem = gauge(Metric{
		Name:   "controller_queue_oldest_item_seconds",
		Help:   "Age of the oldest ready item in the queue in seconds, 0 if the queue is empty.",
		Notes:  "Rises while workers hang; workqueue_queue_duration_seconds shows it only once an item is taken.",
		Family: familyQueues,
		Labels: controller(),
		Covers: []string{"S7"},
	})
	ControllerQueueCoalesced = counter(Metric{
		Name:   "controller_queue_coalesced_total",
		Help:   "Number of coalesced adds: the item was already in the queue.",
		Notes:  "Several events became one reconcile.",
		Family: familyQueues,
		Labels: controller(),
		Covers: []string{"S20"},
	})
	ControllerDropped = counter(Metric{
		Name:   "controller_dropped_total",
		Help:   "Number of dropped items, by reason.",
		Notes:  "The reason shutdown covers items that failed during the shutdown, or were still queued or delayed at its end.",
		Family: familyQueues,
		Labels: controller(labelDropReason),
		Covers: []string{"S8", "S23"},
	})
)
