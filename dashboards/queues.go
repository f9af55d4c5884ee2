package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func queueDepth(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 20, title: "Queue depth", unit: "short",
			description: "Items that no worker has taken, including re-adds of items in progress, for the process with the longest queue. Normally near 0, with peaks at startup and mass changes. A high level means too few or slow workers; a steady rise means hanging workers. A standby replica may keep a full queue, which is harmless."},
		queries: []query{{expr: `max by (@cluster, @job, name) (sum by (@cluster, @job, @instance, name) (workqueue_depth{@queue}))`, legend: legendQueue}},
		goal:    new(t.Of(catalog.Objectives.QueueDepth)),
	}
}

func queueLatency(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 21, title: "Queue latency p99", unit: "s",
			description: "99th percentile of the time in the queue, excluding delays and backoff. Normally milliseconds; no line without items. Items added while in progress wait for that work to end: latencies up to the work duration are normal for controllers that write to their own objects. client-go's buckets grow tenfold: values between 0.1, 1 and 10 s are estimates."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_queue_duration_seconds_bucket{@queue}[$__rate_interval])))`, legend: legendQueue}},
		goal:    new(t.Of(catalog.Objectives.QueueWait)),
	}
}

func oldestItems(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 22, title: "Age of oldest item", unit: "s",
			description: "Age of the item at the head of the queue. Normally 0. A rise of one second per second means hanging workers or a standby replica; the latency shows it only once an item is taken. No line without the library's queue metrics."},
		queries: []query{{expr: `max by (@cluster, name, controller) (controller_queue_oldest_item_seconds{@controller})`, legend: legendController}},
		goal:    new(t.Of(catalog.Objectives.QueueWait)),
	}
}

func queueAdds() panel {
	return timeSeries{
		header: header{id: 23, title: "Adds", unit: "ops",
			description: "Items added to the queue, excluding coalesced adds. The normal rate depends on the cluster, with peaks at resyncs. A rise explains depth and CPU: look for a busy writer or an endless retry."},
		queries: []query{{expr: `sum by (@cluster, @job, name) (rate(workqueue_adds_total{@queue}[$__rate_interval]))`, legend: legendQueue}},
	}
}

func queueRetries() panel {
	return timeSeries{
		header: header{id: 24, title: "Retries", unit: "ops",
			description: "Items added with a delay: in backoff after an error, or requeued for later. Normally far below the adds. As many as adds means that every attempt fails."},
		queries: []query{{expr: `sum by (@cluster, @job, name) (rate(workqueue_retries_total{@queue}[$__rate_interval]))`, legend: legendQueue}},
	}
}

func workDuration() panel {
	return timeSeries{
		header: header{id: 25, title: "Work duration p99", unit: "s",
			description: "99th percentile of the time a worker takes per item. Normally up to a second for controllers that write to the API server; no line without items. If it rises, depth and latency follow: see the duration of reconciles and requests. client-go's buckets grow tenfold and end at 10 s."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_work_duration_seconds_bucket{@queue}[$__rate_interval])))`, legend: legendQueue}},
	}
}

func longestRunning(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 26, title: "Longest running processor", unit: "s",
			description: "Longest time that a worker has spent on its current item. Normally a sawtooth of seconds. A rise of one second per second is a hanging worker: take a goroutine dump before a restart."},
		queries: []query{{expr: `max by (@cluster, @job, name) (workqueue_longest_running_processor_seconds{@queue})`, legend: legendQueue}},
		goal:    new(t.Of(catalog.Objectives.WorkerBusy)),
	}
}

func unfinishedWork() panel {
	return timeSeries{
		header: header{id: 27, title: "Unfinished work", unit: "s",
			description: "Total time spent on items in progress. Normally seconds. The slope is the number of hanging workers: two seconds per second are two workers."},
		queries: []query{{expr: `sum by (@cluster, @job, name) (workqueue_unfinished_work_seconds{@queue})`, legend: legendQueue}},
		ceiling: 10,
	}
}

func itemRetries() panel {
	return distribution{
		header: header{id: 30, title: "Retries per item, distribution", unit: "short",
			description: "Items per second that were finished or dropped, by number of retries, over all controllers. Normally one dark band at the bottom: success at the first attempt. A higher band is a failure that takes several retries to resolve, such as a missing dependency."},
		query: `sum by (le) (rate(controller_item_retries_bucket{@controller}[$__rate_interval]))`,
	}
}

func backoff() panel {
	return timeSeries{
		header: header{id: 31, title: "Backoff", unit: "s",
			description: "Delay before the next attempt of an item. No line without retries. client-go's default doubles from 5 ms to 1000 s. A p99 of minutes means items that have been failing for a long time; they take up to 17 more minutes after the cause is fixed."},
		queries: []query{
			{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_backoff_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendController + " p99"},
			{expr: `histogram_quantile(0.5, sum by (le, @cluster, name, controller) (rate(controller_backoff_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendController + " p50"},
		},
	}
}

func delayedItems() panel {
	return timeSeries{
		header: header{id: 32, title: "Delayed items", unit: "short",
			description: "Items in backoff or requeued for later, which the queue depth excludes. The normal number depends on the controller. A rise together with errors is a backlog."},
		queries: []query{{expr: `sum by (@cluster, name, controller) (controller_queue_delayed_items{@controller})`, legend: legendController}},
	}
}

func droppedItems() panel {
	return timeSeries{
		header: header{id: 33, title: "Dropped items by reason", unit: "short",
			description: "Items that are not retried. max_retries: the retry limit was exceeded, which should not happen. terminal: an error that no retry fixes, usually an invalid object. shutdown: left behind; the next process finds them in its initial list."},
		queries: []query{{expr: `sum by (@cluster, name, controller, reason) (increase(controller_dropped_total{@controller}[$__rate_interval]))`, legend: legendController + " {{reason}}"}},
		stacked: true,
	}
}

func coalescedAdds() panel {
	return timeSeries{
		header: header{id: 34, title: "Coalesced adds", unit: "ops",
			description: "Adds of items that were already queued: several events became one reconcile. Normally peaks at mass changes and resyncs. A high rate on a long queue shows how much work was saved."},
		queries: []query{{expr: `sum by (@cluster, name, controller) (rate(controller_queue_coalesced_total{@controller}[$__rate_interval]))`, legend: legendController}},
	}
}
