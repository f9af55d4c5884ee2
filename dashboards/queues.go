package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var queueDepth = timeSeries{header: header{id: 20, title: "Queue depth", unit: "short",
	description: "Items that no worker has taken, including re-adds of items in progress, for the process with the longest queue. Normally near 0, with peaks at startup and mass changes. A high level means too few or slow workers; a steady rise means hanging workers. A standby replica may keep a full queue, which is harmless."},
	queries: []query{{expr: `max by (@cluster, @job, name) (sum by (@cluster, @job, @instance, name) (workqueue_depth{@queue}))`, legend: legendQueue}},
	goal:    &catalog.Objectives.QueueDepth,
}

func slowItems(t catalog.Targets) panel {
	o := t.Of(catalog.Objectives.QueueWait)
	return timeSeries{header: header{id: 28, title: "Slow queue items", unit: "percentunit",
		description: "Share of items with a queue latency above " + o.Amount() + ", excluding delays and backoff. Normally 0; 0 when idle. Items added while in progress wait for that work to end, which is normal for controllers that write to their own objects. client-go's buckets grow by a factor of ten, too coarse for a quantile."},
		queries: []query{{expr: shareAbove("workqueue_queue_duration_seconds", "@queue", "@cluster, @job, name", o), legend: legendQueue}},
		goal:    budget(o),
	}
}

var oldestItems = timeSeries{header: header{id: 22, title: "Age of oldest item", unit: age,
	description: "Age of the first item in the queue. Normally 0. A rise of one second per second means hanging workers or a standby replica; the queue latency shows it only once an item is taken. No data without the library's queue metrics."},
	queries: []query{{expr: `max by (@cluster, name, controller) (controller_queue_oldest_item_seconds{@controller})`, legend: legendController}},
	goal:    &catalog.Objectives.QueueWait,
}

var queueAdds = timeSeries{header: header{id: 23, title: "Adds per minute", unit: "short",
	description: "Items added to the queue, excluding coalesced adds. The normal rate depends on the cluster, with peaks at resyncs. A rise explains higher queue depth and CPU usage: look for a busy writer or an endless retry."},
	queries: []query{{expr: `60 * sum by (@cluster, @job, name) (rate(workqueue_adds_total{@queue}[$__rate_interval]))`, legend: legendQueue}},
}

var queueRetries = timeSeries{header: header{id: 24, title: "Retries per minute", unit: "short",
	description: "Items added with a delay: in backoff after an error, or requeued for later. Normally far below the adds, unless the controller requeues every object periodically. As many retries as adds otherwise means that every attempt fails."},
	queries: []query{{expr: `60 * sum by (@cluster, @job, name) (rate(workqueue_retries_total{@queue}[$__rate_interval]))`, legend: legendQueue}},
}

var workDuration = timeSeries{header: header{id: 29, title: "Mean work duration", unit: "s",
	description: "Mean time that a worker takes per item. Normally up to a second for controllers that write to the API server; no data without items. If it rises, queue latency and depth follow: see the duration of reconciles and requests."},
	queries: []query{{expr: `sum by (@cluster, @job, name) (rate(workqueue_work_duration_seconds@sum{@queue}[$__rate_interval])) / (sum by (@cluster, @job, name) (rate(workqueue_work_duration_seconds@count{@queue}[$__rate_interval])) > 0)`, legend: legendQueue}},
}

var longestRunning = timeSeries{header: header{id: 26, title: "Longest running processor", unit: age,
	description: "Longest time that a worker has spent on its current item. Normally a sawtooth of seconds. A rise of one second per second is a hanging worker: take a goroutine dump before a restart."},
	queries: []query{{expr: `max by (@cluster, @job, name) (workqueue_longest_running_processor_seconds{@queue})`, legend: legendQueue}},
	goal:    &catalog.Objectives.WorkerBusy,
}

var unfinishedWork = timeSeries{header: header{id: 27, title: "Unfinished work", unit: age,
	description: "Total time spent on items in progress. Normally seconds. The slope is the number of hanging workers: two seconds per second are two workers."},
	queries: []query{{expr: `sum by (@cluster, @job, name) (workqueue_unfinished_work_seconds{@queue})`, legend: legendQueue}},
	ceiling: 10,
}

var highestRetries = timeSeries{header: header{id: 36, title: "Highest retries in flight", unit: "short",
	description: "Retries of the item that has failed most often and is still being retried. Normally near 0. A line that keeps rising is an item that always fails: the log names it."},
	queries: []query{{expr: `max by (@cluster, name, controller) (controller_item_retries_max{@controller})`, legend: legendController}},
	goal:    &catalog.Objectives.ItemRetries,
}

var itemRetries = timeSeries{header: header{id: 37, title: "Retries per item p99", unit: "short",
	description: "99th percentile of retries per finished or dropped item. Normally 0: success at the first attempt. A rise indicates failures that take several retries to resolve, such as a missing dependency. No data without finished items."},
	queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, name, controller) (rate(controller_item_retries@bucket{@controller}[$__rate_interval]))) >= 0`, legend: legendController}},
}

var backoff = timeSeries{header: header{id: 38, title: "Backoff p99", unit: "s",
	description: "99th percentile of the delay before the next attempt of an item. No data without retries. client-go's default doubles from 5 ms to 1000 s. A backoff of minutes means that items have been failing for a long time. They are retried up to 17 minutes after the cause is fixed."},
	queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, name, controller) (rate(controller_backoff_seconds@bucket{@controller}[$__rate_interval]))) >= 0`, legend: legendController}},
}

var delayedItems = timeSeries{header: header{id: 32, title: "Delayed items", unit: "short",
	description: "Items in backoff or requeued for later, which the queue depth excludes. The normal number depends on the controller. A rise together with errors is a backlog."},
	queries: []query{{expr: `sum by (@cluster, name, controller) (controller_queue_delayed_items{@controller})`, legend: legendController}},
}

var droppedItems = timeSeries{header: header{id: 33, title: "Dropped items by reason", unit: "short", empty: normallyEmpty,
	description: "Items that are not retried. max_retries: the item exceeded the retry limit. terminal: an error that no retry fixes, usually an invalid object. shutdown: left behind; the next process finds them in its initial list."},
	stacked: true, queries: []query{{expr: occurrences(`controller_dropped_total{@controller}`, `@cluster, name, controller, reason`), legend: legendController + " {{reason}}"}},
}

var coalescedAdds = timeSeries{header: header{id: 34, title: "Coalesced adds per minute", unit: "short",
	description: "Adds of items that were already queued: several events became one reconcile. Normally short peaks at mass changes and resyncs. A high rate on a long queue shows how much work was saved."},
	queries: []query{{expr: `60 * sum by (@cluster, name, controller) (rate(controller_queue_coalesced_total{@controller}[$__rate_interval]))`, legend: legendController}},
}

var droppedLinks = timeSeries{header: header{id: 35, title: "Dropped trace links by reason", unit: "short", empty: normallyEmpty,
	description: "Reconcile causes without a trace link. links: a reconcile had more than 32 causes, normal for mass changes. items: more than 10,000 items of a controller had causes. Empty without tracing."},
	stacked: true, queries: []query{{expr: occurrences(`controller_trace_links_dropped_total{@target}`, `@cluster, name, reason`), legend: "{{@cluster}} {{name}} {{reason}}"}},
}
