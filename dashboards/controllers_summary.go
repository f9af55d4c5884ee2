package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var maxQueueDepth = singleStat{header: header{id: 1, title: "Queue depth", unit: "short",
	description: "Items in the longest queue of a process. Normally near 0, with peaks at startup and mass changes."},
	query: `max(sum by (@cluster, @job, @instance, name) (workqueue_depth{@queue}))`,
	goal:  &catalog.Objectives.QueueDepth,
}

var oldestItem = singleStat{header: header{id: 2, title: "Oldest item", unit: age,
	description: "Age of the oldest ready item in a queue. Normally 0. Find the queue below, and check for hanging workers. No data without the library's queue metrics."},
	query: `max(controller_queue_oldest_item_seconds{@controller})`,
	goal:  &catalog.Objectives.QueueWait,
}

var maxRunningProcessor = singleStat{header: header{id: 3, title: "Longest running", unit: age,
	description: "Longest time that a worker has spent on its current item. Normally seconds. Above the objective, a worker probably hangs."},
	query: `max(workqueue_longest_running_processor_seconds{@queue})`,
	goal:  &catalog.Objectives.WorkerBusy,
}

var maxReconcileErrors = singleStat{header: header{id: 4, title: "Reconcile errors", unit: "percentunit",
	description: "Share of reconciles that end in an error or a panic, for the worst controller. Normally near 0. idle: no reconciles."},
	idle: "idle", query: `max(sum by (@cluster, @job, name, controller) (rate(controller_reconcile_total{@controller, result=~"error|terminal|panic"}[$__rate_interval])) / sum by (@cluster, @job, name, controller) (rate(controller_reconcile_total{@controller}[$__rate_interval])))`,
	goal: &catalog.Objectives.ReconcileErrors,
}

var retriesNow = singleStat{header: header{id: 11, title: "Highest retries", unit: "short",
	description: "Retries of the item that has failed most often and is still being retried. Normally near 0. Its object is not reconciled meanwhile: the log names it. No data without the library's queue metrics."},
	query: `max(controller_item_retries_max{@controller})`,
	goal:  &catalog.Objectives.ItemRetries,
}

var cleanupDeadlinesNow = singleStat{header: header{id: 7, title: "Cleanup deadline exceeded", unit: "short",
	description: "Objects that exceeded the deadline of their finalizer cleanup; their deletion is blocked. Normally 0. No data: no finalizer is decorated, or informers of the process are disconnected. The row Finalizers shows the controller and its finalizer."},
	red: 1, query: known("sum", "controller_finalizer_overdue{@controller}", "@cluster, @job, @instance"),
}

var conflictsNow = singleStat{header: header{id: 12, title: "Conflicts", unit: "percentunit",
	description: "Writes of these processes rejected with 409 Conflict, as a share, for the worst resource. Each costs a retry. See the API client dashboard."},
	idle: "idle", query: `max(` + conflictShare("@target", "@cluster, @job, name, resource, subresource") + `)`,
	goal: &catalog.Objectives.WriteConflicts,
}

func queueTable(t catalog.Targets) panel {
	wait := t.Of(catalog.Objectives.QueueWait)
	return labelTable{header: header{id: 9, title: "Queues by depth", unit: "short",
		description: "One row per queue and process, from client-go's metrics. Normally a depth near 0 and no slow items: items with a queue latency above " + wait.Amount() + ". Red cells miss an objective."},
		labels: []column{{label: "cluster", title: "Cluster"}, {label: "job", title: "Job"}, {label: "name", title: "Queue", link: &link{uid: ControllersUID, title: "Only this queue", sets: []string{"cluster", "job", "instance", "controller=name"}}}, {label: "instance", title: "Instance"}},
		columns: []column{
			{title: "Depth", goal: &catalog.Objectives.QueueDepth, query: `sum by (@cluster, @job, name, @instance) (workqueue_depth{@queue})`},
			{title: "Slow items", unit: "percentunit", red: wait.Allowed(), query: shareAbove("workqueue_queue_duration_seconds", "@queue", "@cluster, @job, name, @instance", wait)},
			{title: "Longest running", unit: age, goal: &catalog.Objectives.WorkerBusy, query: `max by (@cluster, @job, name, @instance) (workqueue_longest_running_processor_seconds{@queue})`},
			{title: "Adds/min", unit: "short", query: `60 * sum by (@cluster, @job, name, @instance) (rate(workqueue_adds_total{@queue}[$__rate_interval]))`},
			{title: "Retries/min", unit: "short", query: `60 * sum by (@cluster, @job, name, @instance) (rate(workqueue_retries_total{@queue}[$__rate_interval]))`},
		},
		sortBy: []string{"Depth", "Adds/min"},
	}
}

var controllerTable = labelTable{header: header{id: 10, title: "Controllers by reconcile error rate", unit: "short",
	description: "One row per controller and process that uses the library. Running workers wait for an item or process one, normally the maximum; 0 on standby replicas. Normally an error rate near 0 and no cleanup deadline exceeded. Red cells miss an objective. No rate and no duration without reconciles, as on standby replicas."},
	labels: []column{{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "controller", title: "Controller", link: &link{uid: ControllersUID, title: "Only this controller", sets: []string{"cluster", "instance", "controller"}}}, {label: "instance", title: "Instance"}},
	columns: []column{
		{title: "Error rate", unit: "percentunit", goal: &catalog.Objectives.ReconcileErrors, query: `sum by (@cluster, name, controller, @instance) (rate(controller_reconcile_total{@controller, result=~"error|terminal|panic"}[$__rate_interval])) / (sum by (@cluster, name, controller, @instance) (rate(controller_reconcile_total{@controller}[$__rate_interval])) > 0)`},
		{title: "Duration p99", unit: "s", query: `histogram_quantile(0.99, sum by (@le, @cluster, name, controller, @instance) (rate(controller_reconcile_duration_seconds@bucket{@controller}[$__rate_interval]))) >= 0`},
		{title: "Oldest item", unit: age, goal: &catalog.Objectives.QueueWait, query: `max by (@cluster, name, controller, @instance) (controller_queue_oldest_item_seconds{@controller})`},
		{title: "Delayed", query: `sum by (@cluster, name, controller, @instance) (controller_queue_delayed_items{@controller})`},
		{title: "Active workers", query: `sum by (@cluster, name, controller, @instance) (controller_active_workers{@controller})`},
		{title: "Running workers", query: `sum by (@cluster, name, controller, @instance) (controller_running_workers{@controller})`},
		{title: "Maximum", query: `sum by (@cluster, name, controller, @instance) (controller_max_workers{@controller})`},
		{title: "Cleanup deadline exceeded", red: 1, query: `sum by (@cluster, name, controller, @instance) (controller_finalizer_overdue{@controller})`},
	},
	sortBy: []string{"Error rate", "Duration p99"},
}
