package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var reconcileResults = timeSeries{header: header{id: 40, title: "Reconciles per minute by result", unit: "short",
	description: "Normally success and requeue_after. error: retried with backoff. requeue: requested by the reconcile. terminal: no retry fixes it. panic: see the log."},
	queries: []query{{expr: `60 * sum by (@cluster, name, controller, result) (rate(controller_reconcile_total{@controller}[$__rate_interval]))`, legend: legendController + " {{result}}"}},
}

var reconcileErrorRate = timeSeries{header: header{id: 41, title: "Reconcile error rate", unit: "percentunit",
	description: "Share of reconciles that end in an error or a panic. Normally near 0, apart from occasional conflicts. No data without reconciles. See the log, and the request errors in the API client dashboard."},
	queries: []query{{expr: `sum by (@cluster, name, controller) (rate(controller_reconcile_total{@controller, result=~"error|terminal|panic"}[$__rate_interval])) / (sum by (@cluster, name, controller) (rate(controller_reconcile_total{@controller}[$__rate_interval])) > 0)`, legend: legendController}},
	goal:    &catalog.Objectives.ReconcileErrors,
}

var reconcileDuration = timeSeries{header: header{id: 42, title: "Reconcile duration", unit: "s",
	description: "Duration of reconciles with any result. Normally tens of milliseconds for controllers that read their cache and rarely write. No data without reconciles. A p99 far above the median indicates a few expensive objects or slow API server requests. Set an objective of its own for a controller that waits for slow systems."},
	queries: []query{
		{expr: `histogram_quantile(0.99, sum by (@le, @cluster, name, controller) (rate(controller_reconcile_duration_seconds@bucket{@controller}[$__rate_interval])))`, legend: legendController + " p99", traced: true},
		{expr: `histogram_quantile(0.5, sum by (@le, @cluster, name, controller) (rate(controller_reconcile_duration_seconds@bucket{@controller}[$__rate_interval])))`, legend: legendController + " p50"},
	},
	goal: &catalog.Objectives.ReconcileDuration,
}

var workers = timeSeries{header: header{id: 43, title: "Active, running and maximum workers", unit: "short",
	description: "Active workers are reconciling. Running workers are active or waiting for items. Values are from the process with the most workers. The maximum appears only if the controller reports it. Normally running equals the maximum, and active is below it. Active at the maximum with items in the queue: add workers or speed up reconciles. Running below the maximum for minutes: workers have exited; look for a panic in the log."},
	queries: []query{
		{expr: `max by (@cluster, name, controller) (controller_active_workers{@controller})`, legend: legendController + " active"},
		{expr: `max by (@cluster, name, controller) (controller_running_workers{@controller})`, legend: legendController + " running"},
		{expr: `max by (@cluster, name, controller) (controller_max_workers{@controller})`, legend: legendController + " maximum"},
	},
}

var staleReads = timeSeries{header: header{id: 44, title: "Stale reads", unit: "short",
	description: "Cache reads that returned an object older than the controller's own last write, for controllers that track their writes. A few after writes are normal. Many make a controller repeat its work: see the event lag of its informers."},
	stacked: true, queries: []query{{expr: occurrences(`controller_stale_reads_total{@controller}`, `@cluster, name, controller`), legend: legendController}},
}

var shutdownSteps = labelTable{header: header{id: 45, title: "Shutdown steps", unit: "short", empty: normallyEmpty,
	description: "Duration and result of each shutdown step. Normally seconds and success. timeout: the remaining work is lost or delayed. Few processes are scraped after their shutdown, so an empty panel is normal; the log has the same information."},
	labels: []column{
		{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "controller", title: "Controller", link: &link{uid: ControllersUID, title: "Only this controller", sets: []string{"cluster", "controller"}}},
		{label: "step", title: "Step"}, {label: "result", title: "Result"},
	},
	columns: []column{{title: "Duration", unit: "s", query: `max by (@cluster, name, controller, step, result) (controller_shutdown_duration_seconds{@controller})`}},
	sortBy:  []string{"Duration"},
}

var cleanupAttempts = timeSeries{header: header{id: 50, title: "Finalizer cleanups by result", unit: "short",
	description: "Attempts to clean up before a finalizer is removed. Normally one success per deleted object. error and timeout are retried; if they continue, terminating objects pile up."},
	stacked: true, queries: []query{{expr: occurrences(`controller_finalizer_attempts_total{@controller}`, `@cluster, name, controller, finalizer, result`), legend: legendFinalizer + " {{result}}"}},
}

var cleanupDeadlines = timeSeries{header: header{id: 51, title: "Cleanup deadline exceeded", unit: "short",
	description: "Objects without a successful cleanup within the deadline, counted from the first attempt. Normally 0. Their deletion is blocked, and their namespace cannot be deleted: see the runbook of ControllerCleanupOverdue."},
	queries: []query{{expr: `sum by (@cluster, name, controller, finalizer) (controller_finalizer_overdue{@controller})`, legend: legendFinalizer}},
}

var slowCleanups = timeSeries{header: header{id: 54, title: "Slow cleanups by result", unit: "short",
	description: "Cleanup attempts that took more than " + catalog.Objectives.CleanupDuration.Amount() + ". Normally none. Each blocks a worker meanwhile: see the runbook of ControllerCleanupSlow."},
	stacked: true, queries: []query{{expr: countAbove("controller_finalizer_duration_seconds", "@controller", catalog.Objectives.CleanupDuration.Threshold, "@cluster, name, controller, finalizer, result"), legend: legendFinalizer + " {{result}}"}},
}

var cleanupDuration = timeSeries{header: header{id: 55, title: "Cleanup duration p99", unit: "s",
	description: "99th percentile of the cleanup duration. The normal duration depends on the cleanup; no data without cleanups."},
	goal:    &catalog.Objectives.CleanupDuration,
	queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, name, controller, finalizer) (rate(controller_finalizer_duration_seconds@bucket{@controller}[$__rate_interval]))) >= 0`, legend: legendFinalizer}},
}

var rollbackDuration = timeSeries{header: header{id: 56, title: "Rollback duration p99", unit: "s",
	description: "99th percentile of the time to undo a failed cleanup, by result. Normally no data. A failed rollback leaves partial changes behind: see the log."},
	queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, name, controller, finalizer, result) (rate(controller_finalizer_rollback_duration_seconds@bucket{@controller}[$__rate_interval]))) >= 0`, legend: legendFinalizer + " {{result}}"}},
}
