package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func maxQueueDepth(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 1, title: "Queue depth", unit: "short",
			description: "Items in the longest queue of a process. Normally near 0, with peaks at startup and mass changes."},
		query: `max(sum by (@cluster, @job, @instance, name) (workqueue_depth{@queue}))`,
		goal:  new(t.Of(catalog.Objectives.QueueDepth)),
	}
}

func oldestItem(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 2, title: "Oldest item", unit: "s",
			description: "Age of the oldest ready item in a queue. Normally 0. Find the queue below, and check for hanging workers. No data without the library's queue metrics."},
		query: `max(controller_queue_oldest_item_seconds{@controller})`,
		goal:  new(t.Of(catalog.Objectives.QueueWait)),
	}
}

func maxRunningProcessor(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 3, title: "Longest running processor", unit: "s",
			description: "Longest time that a worker has spent on its current item. Normally seconds. Above the objective, a worker probably hangs."},
		query: `max(workqueue_longest_running_processor_seconds{@queue})`,
		goal:  new(t.Of(catalog.Objectives.WorkerBusy)),
	}
}

func maxReconcileErrors(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 4, title: "Reconcile error rate", unit: "percentunit",
			description: "Share of reconciles that end in an error or a panic, for the worst controller. Normally near 0; 0 when idle."},
		query: `max(sum by (@cluster, @job, name, controller) (rate(controller_reconcile_total{@controller, result=~"error|terminal|panic"}[$__rate_interval])) / clamp_min(sum by (@cluster, @job, name, controller) (rate(controller_reconcile_total{@controller}[$__rate_interval])), 1e-9))`,
		goal:  new(t.Of(catalog.Objectives.ReconcileErrors)),
	}
}

func delayedNow() panel {
	return singleStat{
		header: header{id: 5, title: "Delayed items", unit: "short",
			description: "Items in backoff or requeued for later. The normal number depends on the controllers. A rise together with errors is a backlog that the queue depth does not show."},
		query: `sum(controller_queue_delayed_items{@controller})`,
	}
}

func droppedNow() panel {
	return singleStat{
		header: header{id: 6, title: "Dropped items", unit: "short",
			description: "Items dropped after their last retry. Normally 0. Their objects are not reconciled until they change again: the log names them."},
		query: `sum(increase(controller_dropped_total{@controller, reason="max_retries"}[$__rate_interval]))`,
		red:   1,
	}
}

func overdueCleanups() panel {
	return singleStat{
		header: header{id: 7, title: "Cleanup deadline exceeded", unit: "short",
			description: "Objects whose finalizer cleanup exceeded its deadline; their deletion is blocked. Normally 0. No data: no finalizer is decorated. The finalizer row shows which."},
		query: `sum(controller_finalizer_overdue{@controller})`,
		red:   1,
	}
}

func conflictsNow() panel {
	return singleStat{
		header: header{id: 8, title: "Conflicts", unit: "cpm",
			description: "Writes per minute of these processes rejected with 409 Conflict. A few are normal; each costs a retry. Many indicate two writers of the same object: see the API client dashboard."},
		query: `60 * sum(rate(k8s_client_conflicts_total{@target}[$__rate_interval]))`,
	}
}

func queueTable(t catalog.Targets) panel {
	depth, wait, busy := t.Of(catalog.Objectives.QueueDepth), t.Of(catalog.Objectives.QueueWait), t.Of(catalog.Objectives.WorkerBusy)
	return labelTable{
		header: header{id: 9, title: "Queues by depth", unit: "short",
			description: "One row per queue and process, from client-go's metrics. Normally a depth near 0 and a short latency. Red cells miss an objective. No latency without items."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "job", title: "Job"}, {label: "name", title: "Queue"}, {label: "instance", title: "Instance"},
		},
		columns: []column{
			{title: "Depth", red: depth.Threshold, query: `sum by (@cluster, @job, name, @instance) (workqueue_depth{@queue})`},
			{title: "Latency p99", unit: "s", red: wait.Threshold, query: `histogram_quantile(0.99, sum by (le, @cluster, @job, name, @instance) (rate(workqueue_queue_duration_seconds_bucket{@queue}[$__rate_interval]))) >= 0`},
			{title: "Longest running", unit: "s", red: busy.Threshold, query: `max by (@cluster, @job, name, @instance) (workqueue_longest_running_processor_seconds{@queue})`},
			{title: "Adds", unit: "ops", query: `sum by (@cluster, @job, name, @instance) (rate(workqueue_adds_total{@queue}[$__rate_interval]))`},
			{title: "Retries", unit: "ops", query: `sum by (@cluster, @job, name, @instance) (rate(workqueue_retries_total{@queue}[$__rate_interval]))`},
		},
		sortBy: "Depth",
	}
}

func controllerTable(t catalog.Targets) panel {
	failing, wait := t.Of(catalog.Objectives.ReconcileErrors), t.Of(catalog.Objectives.QueueWait)
	return labelTable{
		header: header{id: 10, title: "Controllers by reconcile error rate", unit: "short",
			description: "One row per controller and process that uses the library. Normally an error rate near 0 and no overdue cleanups. Red cells miss an objective. No rate and no duration without reconciles, as on standby replicas."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "controller", title: "Controller"}, {label: "instance", title: "Instance"},
		},
		columns: []column{
			{title: "Error rate", unit: "percentunit", red: failing.Threshold, query: `sum by (@cluster, name, controller, @instance) (rate(controller_reconcile_total{@controller, result=~"error|terminal|panic"}[$__rate_interval])) / (sum by (@cluster, name, controller, @instance) (rate(controller_reconcile_total{@controller}[$__rate_interval])) > 0)`},
			{title: "Duration p99", unit: "s", query: `histogram_quantile(0.99, sum by (le, @cluster, name, controller, @instance) (rate(controller_reconcile_duration_seconds_bucket{@controller}[$__rate_interval]))) >= 0`},
			{title: "Oldest item", unit: "s", red: wait.Threshold, query: `max by (@cluster, name, controller, @instance) (controller_queue_oldest_item_seconds{@controller})`},
			{title: "Delayed", query: `sum by (@cluster, name, controller, @instance) (controller_queue_delayed_items{@controller})`},
			{title: "Active workers", query: `sum by (@cluster, name, controller, @instance) (controller_active_workers{@controller})`},
			{title: "Cleanups overdue", red: 1, query: `sum by (@cluster, name, controller, @instance) (controller_finalizer_overdue{@controller})`},
		},
		sortBy: "Error rate",
	}
}
