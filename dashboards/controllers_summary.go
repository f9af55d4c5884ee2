package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func deepestQueue(t catalog.Targets) panel {
	o := t.Of(catalog.QueueDepth)
	return single{
		header: header{id: 1, title: "Deepest queue", unit: "short",
			about: "Items in the deepest queue of a process. Near 0 is normal, with peaks at starts and mass changes. The objective is " + o.Goal() + "."},
		query: `max(sum by (@cluster, @job, @instance, name) (workqueue_depth{@queue}))`,
		red:   o.Threshold,
	}
}

func oldestItem(t catalog.Targets) panel {
	o := t.Of(catalog.QueueWait)
	return single{
		header: header{id: 2, title: "Oldest item", unit: "s",
			about: "How long the item has been ready that has waited longest. Normal is 0. Red is longer than the objective for the wait, " + o.Goal() + ": look at which queue, and whether its workers hang. No data where only client-go's own metrics are there."},
		query: `max(controller_queue_oldest_item_seconds{@controller})`,
		red:   o.Threshold,
	}
}

func longestWorker(t catalog.Targets) panel {
	o := t.Of(catalog.WorkerBusy)
	return single{
		header: header{id: 3, title: "Longest at work", unit: "s",
			about: "How long the worker has been at its item that has been so longest. Seconds are normal. The objective is " + o.Goal() + "; a worker beyond it probably hangs."},
		query: `max(workqueue_longest_running_processor_seconds{@queue})`,
		red:   o.Threshold,
	}
}

func failingReconciles(t catalog.Targets) panel {
	o := t.Of(catalog.ReconcileErrors)
	return single{
		header: header{id: 4, title: "Failing", unit: "percentunit",
			about: "Share of the reconciles that fail, of the controller that fails most. Near 0 is normal, also when nothing happens. The objective is " + o.Goal() + "."},
		query: `max(sum by (@cluster, @job, name, controller) (rate(controller_reconcile_total{@controller, result=~"error|terminal|panic"}[$__rate_interval])) / clamp_min(sum by (@cluster, @job, name, controller) (rate(controller_reconcile_total{@controller}[$__rate_interval])), 1e-9))`,
		red:   o.Threshold,
	}
}

func itemsInBackoff() panel {
	return single{
		header: header{id: 5, title: "In back-off", unit: "short",
			about: "Items that wait for their time, after a failure or because a reconcile asked for it. What is normal depends on the controllers; a rise together with failures is work that piles up out of sight of the depth."},
		query: `sum(controller_queue_delayed_items{@controller})`,
	}
}

func itemsGivenUp() panel {
	return single{
		header: header{id: 6, title: "Given up", unit: "short",
			about: "Items that were dropped just now after their last retry. Normal is 0. Their objects stay as they are until they change again: the log names them."},
		query: `sum(increase(controller_dropped_total{@controller, reason="max_retries"}[$__rate_interval]))`,
		red:   1,
	}
}

func cleanupsLate() panel {
	return single{
		header: header{id: 7, title: "Clean-ups late", unit: "short",
			about: "Objects whose clean-up has not succeeded within its deadline; they cannot be deleted. Normal is 0. No data where no finalizer is decorated. Otherwise see which finalizer below."},
		query: `sum(controller_finalizer_overdue{@controller})`,
		red:   1,
	}
}

func conflictsNow() panel {
	return single{
		header: header{id: 8, title: "Conflicts", unit: "cpm",
			about: "Writes of these processes that the API server refused with 409 in a minute, because the object had changed. A few are normal, each costs a retry. Many are two writers of the same object: see the dashboard of the API client."},
		query: `60 * sum(rate(k8s_client_conflicts_total{@target}[$__rate_interval]))`,
	}
}

func everyQueue(t catalog.Targets) panel {
	depth, wait, busy := t.Of(catalog.QueueDepth), t.Of(catalog.QueueWait), t.Of(catalog.WorkerBusy)
	return grid{
		header: header{id: 9, title: "Every queue, the deepest first", unit: "short",
			about: "One row for each queue of each process, by client-go's own metrics. Normal is a depth near 0 and a short wait. Red cells miss an objective. No wait is shown where no item was taken."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "job", title: "Job"}, {label: "name", title: "Queue"}, {label: "instance", title: "Instance"},
		},
		columns: []column{
			{title: "Depth", bad: true, red: depth.Threshold, query: `sum by (@cluster, @job, name, @instance) (workqueue_depth{@queue})`},
			{title: "Wait p99", unit: "s", bad: true, red: wait.Threshold, query: `histogram_quantile(0.99, sum by (le, @cluster, @job, name, @instance) (rate(workqueue_queue_duration_seconds_bucket{@queue}[$__rate_interval]))) >= 0`},
			{title: "Longest at work", unit: "s", bad: true, red: busy.Threshold, query: `max by (@cluster, @job, name, @instance) (workqueue_longest_running_processor_seconds{@queue})`},
			{title: "Added", unit: "ops", query: `sum by (@cluster, @job, name, @instance) (rate(workqueue_adds_total{@queue}[$__rate_interval]))`},
			{title: "Added later", unit: "ops", query: `sum by (@cluster, @job, name, @instance) (rate(workqueue_retries_total{@queue}[$__rate_interval]))`},
		},
		sortBy: "Depth",
	}
}

func everyController(t catalog.Targets) panel {
	failing, wait := t.Of(catalog.ReconcileErrors), t.Of(catalog.QueueWait)
	return grid{
		header: header{id: 10, title: "Every controller, the one that fails most first", unit: "short",
			about: "One row for each controller of each process that uses the library. Normal is that hardly any reconcile fails and nothing is late. Red cells miss an objective. No share and no duration are shown where nothing was reconciled, as on replicas that do not lead."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "controller", title: "Controller"}, {label: "instance", title: "Instance"},
		},
		columns: []column{
			{title: "Failing", unit: "percentunit", bad: true, red: failing.Threshold, query: `sum by (@cluster, name, controller, @instance) (rate(controller_reconcile_total{@controller, result=~"error|terminal|panic"}[$__rate_interval])) / (sum by (@cluster, name, controller, @instance) (rate(controller_reconcile_total{@controller}[$__rate_interval])) > 0)`},
			{title: "p99", unit: "s", query: `histogram_quantile(0.99, sum by (le, @cluster, name, controller, @instance) (rate(controller_reconcile_duration_seconds_bucket{@controller}[$__rate_interval]))) >= 0`},
			{title: "Oldest item", unit: "s", bad: true, red: wait.Threshold, query: `max by (@cluster, name, controller, @instance) (controller_queue_oldest_item_seconds{@controller})`},
			{title: "In back-off", query: `sum by (@cluster, name, controller, @instance) (controller_queue_delayed_items{@controller})`},
			{title: "Busy workers", query: `sum by (@cluster, name, controller, @instance) (controller_active_workers{@controller})`},
			{title: "Clean-ups late", bad: true, red: 1, query: `sum by (@cluster, name, controller, @instance) (controller_finalizer_overdue{@controller})`},
		},
		sortBy: "Failing",
	}
}
