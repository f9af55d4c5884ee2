package dashboards

const legendFinalizer = legendController + " {{finalizer}}"

func cleanupAttempts() panel {
	return timeSeries{
		header: header{id: 50, title: "Clean-ups by result", unit: "short",
			about: "Attempts to clean up before a finalizer is removed, by result. Normal is success, once for each object that is deleted. error and timeout are tried again; if they go on, deletions pile up."},
		queries: []query{{expr: `sum by (@cluster, name, controller, finalizer, result) (increase(controller_finalizer_attempts_total{@controller}[$__rate_interval]))`, legend: legendFinalizer + " {{result}}"}},
		stacked: true,
		colours: resultColours("success", "error|timeout|panic"),
	}
}

func cleanupsOverdue() panel {
	return timeSeries{
		header: header{id: 51, title: "Clean-ups past their deadline", unit: "short",
			about: "Objects whose clean-up has not succeeded within its deadline from the first attempt. Normal is 0. They cannot be deleted, and their namespace cannot either: follow the runbook of ControllerCleanupOverdue."},
		queries: []query{{expr: `sum by (@cluster, name, controller, finalizer) (controller_finalizer_overdue{@controller})`, legend: legendFinalizer}},
	}
}

func cleanupDuration() panel {
	return timeSeries{
		header: header{id: 52, title: "Clean-up duration, p99", unit: "s",
			about: "How long attempts to clean up take, 99th percentile, by result. What is normal depends on what is cleaned up; no line where nothing is. timeout at a constant value is the deadline."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, controller, finalizer, result) (rate(controller_finalizer_duration_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendFinalizer + " {{result}}"}},
	}
}

func rollbackDuration() panel {
	return timeSeries{
		header: header{id: 53, title: "Rollback duration, p99", unit: "s", empty: noneHere,
			about: "How long it takes to undo what a failed clean-up had begun, 99th percentile, by result. No line is normal. A rollback that fails leaves something half done: the log says what."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, controller, finalizer, result) (rate(controller_finalizer_rollback_duration_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendFinalizer + " {{result}}"}},
	}
}
