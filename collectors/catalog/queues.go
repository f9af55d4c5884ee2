package catalog

// Work queues and the retries of their items, besides what client-go's own workqueue_* metrics say (upstream.go).
var (
	ControllerItemRetries = histogram(Metric{
		Name:    "controller_item_retries",
		Help:    "Retries of an item, counted when the rate limiter was told to forget it, because it had succeeded or was dropped. 0 is success at the first attempt.",
		Family:  Queues,
		Labels:  controller(),
		Buckets: retryBuckets,
		Covers:  []string{"S8"},
	})
	ControllerBackoff = histogram(Metric{
		Name:    "controller_backoff_seconds",
		Help:    "Seconds that the rate limiter made an item wait before its next attempt, one observation for each retry. client-go's default doubles from 5 ms to 1000 s.",
		Family:  Queues,
		Labels:  controller(),
		Buckets: backoffBuckets,
		Covers:  []string{"S8", "O6"},
	})
	ControllerQueueDelayedItems = gauge(Metric{
		Name:   "controller_queue_delayed_items",
		Help:   "Items that wait for their time, in back-off or added with a delay. They are not part of workqueue_depth.",
		Family: Queues,
		Labels: controller(),
		Covers: []string{"S8"},
	})
	ControllerQueueOldestItem = gauge(Metric{
		Name:   "controller_queue_oldest_item_seconds",
		Help:   "Seconds that the item which has been ready longest, normally that at the head of the queue, has waited for a worker, at the time of the scrape. 0 if none is ready. It shows workers that hang, which workqueue_queue_duration_seconds does only once an item is taken.",
		Family: Queues,
		Labels: controller(),
		Covers: []string{"S7"},
	})
	ControllerQueueCoalesced = counter(Metric{
		Name:   "controller_queue_coalesced_total",
		Help:   "Adds of an item that was waiting in the queue already: several events became one reconcile.",
		Family: Queues,
		Labels: controller(),
		Covers: []string{"S20"},
	})
	ControllerDropped = counter(Metric{
		Name:   "controller_dropped_total",
		Help:   "Items that were given up, by reason. Those of shutdown failed after it had begun, or were still waiting, in the queue or for their time, when it ended.",
		Family: Queues,
		Labels: controller(LabelDropReason),
		Covers: []string{"S8", "S23"},
	})
)
