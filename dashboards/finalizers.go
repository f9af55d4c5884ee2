package dashboards

const legendFinalizer = legendController + " {{finalizer}}"

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
