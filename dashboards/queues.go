package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func queueDepth(t catalog.Targets) panel {
	o := t.Of(catalog.QueueDepth)
	return timeSeries{
		header: header{id: 20, title: "Items that wait", unit: "short",
			about: "Items that no worker has taken, of the process with the deepest queue. Those that were added again while a worker has them are among them. Near 0 is normal, with peaks at starts and mass changes that fall again. A number that stays up is too few or too slow workers; one that only rises is workers that hang. A replica may fill its queue before it leads, and then stays up without harm."},
		queries: []query{{expr: `max by (@cluster, @job, name) (sum by (@cluster, @job, @instance, name) (workqueue_depth{@queue}))`, legend: legendQueue}},
		goal:    &o,
	}
}

func queueWait(t catalog.Targets) panel {
	o := t.Of(catalog.QueueWait)
	return timeSeries{
		header: header{id: 21, title: "Wait in the queue, p99", unit: "s",
			about: "From the moment that an item is added until a worker takes it, 99th percentile. Milliseconds are normal, and no line where nothing is taken. An item that is added while it is worked on waits for the end of that work: where reconciles write to their own objects, waits as long as the work on an item are normal. Delays and back-off are not part of it. client-go's buckets are tenfold apart, so that values between 0.1, 1 and 10 s are estimates."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_queue_duration_seconds_bucket{@queue}[$__rate_interval])))`, legend: legendQueue}},
		goal:    &o,
	}
}

func oldestItems(t catalog.Targets) panel {
	o := t.Of(catalog.QueueWait)
	return timeSeries{
		header: header{id: 22, title: "Age of the oldest item", unit: "s",
			about: "How long the item at the head of the queue has been ready. Normal is 0. A rise of a second a second is workers that hang, or do not run because the replica does not lead, which the wait beside it shows only once an item is taken. No line where only client-go's own metrics are there."},
		queries: []query{{expr: `max by (@cluster, name, controller) (controller_queue_oldest_item_seconds{@controller})`, legend: legendController}},
		goal:    &o,
	}
}

func queueAdds() panel {
	return timeSeries{
		header: header{id: 23, title: "Items added", unit: "ops",
			about: "Items that came into the queue, those that were in it already not counted. What is normal depends on the cluster; peaks at resyncs are. A rise explains depth and CPU: find out who writes so much, or which retry goes on for ever."},
		queries: []query{{expr: `sum by (@cluster, @job, name) (rate(workqueue_adds_total{@queue}[$__rate_interval]))`, legend: legendQueue}},
	}
}

func queueRetries() panel {
	return timeSeries{
		header: header{id: 24, title: "Items added for later", unit: "ops",
			about: "Items that were added with a delay: after a failure, with back-off, and those that a reconcile wants to see again. Far fewer than the items added is normal. As many as those is a controller whose every attempt fails."},
		queries: []query{{expr: `sum by (@cluster, @job, name) (rate(workqueue_retries_total{@queue}[$__rate_interval]))`, legend: legendQueue}},
	}
}

func workDuration() panel {
	return timeSeries{
		header: header{id: 25, title: "Work on an item, p99", unit: "s",
			about: "How long a worker takes for an item, 99th percentile. Up to a second is normal for controllers that write to the API server; no line where nothing is worked on. If it rises, depth and wait follow: see the duration of reconciles and of requests. client-go's buckets are tenfold apart and end at 10 s."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_work_duration_seconds_bucket{@queue}[$__rate_interval])))`, legend: legendQueue}},
	}
}

func longestRunning(t catalog.Targets) panel {
	o := t.Of(catalog.WorkerBusy)
	return timeSeries{
		header: header{id: 26, title: "Longest at work", unit: "s",
			about: "How long the worker has been at its item that has been so longest. A saw of seconds is normal. A rise of a second a second is a worker that hangs: take a goroutine dump before a restart."},
		queries: []query{{expr: `max by (@cluster, @job, name) (workqueue_longest_running_processor_seconds{@queue})`, legend: legendQueue}},
		goal:    &o,
	}
}

func unfinishedWork() panel {
	return timeSeries{
		header: header{id: 27, title: "Unfinished work", unit: "s",
			about: "Time that workers have spent on what they have not finished, added up. Seconds are normal. Its slope tells how many workers hang: two seconds a second are two of them."},
		queries: []query{{expr: `sum by (@cluster, @job, name) (workqueue_unfinished_work_seconds{@queue})`, legend: legendQueue}},
		ceiling: 10,
	}
}
