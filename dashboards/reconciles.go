package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func reconcileResults() panel {
	return timeSeries{
		header: header{id: 40, title: "Reconciles by result", unit: "ops",
			description: "Normally success and requeue_after. error: retried with backoff. requeue: requested by the reconcile. terminal: no retry fixes it. panic: see the log."},
		queries: []query{{expr: `sum by (@cluster, name, controller, result) (rate(controller_reconcile_total{@controller}[$__rate_interval]))`, legend: legendController + " {{result}}"}},
	}
}

func reconcileErrorRate(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 41, title: "Reconcile error rate", unit: "percentunit",
			description: "Share of reconciles that end in an error or a panic. Normally near 0; conflicts add a few. No line without reconciles. See the log, and the request errors in the API client dashboard."},
		queries: []query{{expr: `sum by (@cluster, name, controller) (rate(controller_reconcile_total{@controller, result=~"error|terminal|panic"}[$__rate_interval])) / (sum by (@cluster, name, controller) (rate(controller_reconcile_total{@controller}[$__rate_interval])) > 0)`, legend: legendController}},
		goal:    new(t.Of(catalog.Objectives.ReconcileErrors)),
	}
}

func reconcileDuration() panel {
	return timeSeries{
		header: header{id: 42, title: "Reconcile duration", unit: "s",
			description: "Duration of reconciles with any result. Normally tens of milliseconds for controllers that read their cache and rarely write. No line without reconciles. A p99 far above the median indicates a few expensive objects or slow API server requests."},
		queries: []query{
			{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_reconcile_duration_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendController + " p99"},
			{expr: `histogram_quantile(0.5, sum by (le, @cluster, name, controller) (rate(controller_reconcile_duration_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendController + " p50"},
		},
	}
}

func workers() panel {
	return timeSeries{
		header: header{id: 43, title: "Active and maximum workers", unit: "short",
			description: "Workers that are reconciling, for the busiest process, and the maximum where the controller reports it. Normally below the maximum. At the maximum with items in the queue: add workers or speed up reconciles."},
		queries: []query{
			{expr: `max by (@cluster, name, controller) (controller_active_workers{@controller})`, legend: legendController + " active"},
			{expr: `max by (@cluster, name, controller) (controller_max_workers{@controller})`, legend: legendController + " maximum"},
		},
	}
}

func staleReads() panel {
	return timeSeries{
		header: header{id: 44, title: "Stale reads", unit: "short",
			description: "Cache reads of objects that the controller has written since, for controllers that track their writes. A few after writes are normal. Many make a controller repeat its work: see the event lag of its informers."},
		queries: []query{{expr: `sum by (@cluster, name, controller) (increase(controller_stale_reads_total{@controller}[$__rate_interval]))`, legend: legendController}},
		stacked: true,
	}
}

func shutdownSteps() panel {
	return labelTable{
		header: header{id: 45, title: "Shutdown steps", unit: "short", empty: normallyEmpty,
			description: "Duration and result of each shutdown step. Normally seconds and success. timeout: the remaining work is lost or delayed. Few processes are scraped after their shutdown, so no row is normal; the log has the same information."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "controller", title: "Controller"},
			{label: "step", title: "Step"}, {label: "result", title: "Result"},
		},
		columns: []column{
			{title: "Duration", unit: "s", query: `max by (@cluster, name, controller, step, result) (controller_shutdown_duration_seconds{@controller})`},
		},
		sortBy: "Duration",
	}
}

func cleanupAttempts() panel {
	return timeSeries{
		header: header{id: 50, title: "Finalizer cleanups by result", unit: "short",
			description: "Attempts to clean up before a finalizer is removed. Normally one success per deleted object. error and timeout are retried; if they continue, terminating objects pile up."},
		queries: []query{{expr: `sum by (@cluster, name, controller, finalizer, result) (increase(controller_finalizer_attempts_total{@controller}[$__rate_interval]))`, legend: legendFinalizer + " {{result}}"}},
		stacked: true,
		colors:  resultColors("success", "error|timeout|panic"),
	}
}

func cleanupsOverdue() panel {
	return timeSeries{
		header: header{id: 51, title: "Cleanup deadline exceeded", unit: "short",
			description: "Objects whose cleanup did not succeed within its deadline after the first attempt. Normally 0. Their deletion, and that of their namespace, is blocked: see the runbook of ControllerCleanupOverdue."},
		queries: []query{{expr: `sum by (@cluster, name, controller, finalizer) (controller_finalizer_overdue{@controller})`, legend: legendFinalizer}},
	}
}

func cleanupDuration() panel {
	return timeSeries{
		header: header{id: 52, title: "Cleanup duration p99", unit: "s",
			description: "99th percentile of the duration of cleanup attempts, by result. The normal duration depends on the cleanup; no line without cleanups. timeout at a constant value is the deadline."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, controller, finalizer, result) (rate(controller_finalizer_duration_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendFinalizer + " {{result}}"}},
	}
}

func rollbackDuration() panel {
	return timeSeries{
		header: header{id: 53, title: "Rollback duration p99", unit: "s", empty: normallyEmpty,
			description: "99th percentile of the time to undo a failed cleanup, by result. Normally no line. A failed rollback leaves partial changes behind: see the log."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, controller, finalizer, result) (rate(controller_finalizer_rollback_duration_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendFinalizer + " {{result}}"}},
	}
}
