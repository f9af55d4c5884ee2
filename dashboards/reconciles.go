package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func reconcileResults() panel {
	return timeSeries{
		header: header{id: 40, title: "Reconciles by result", unit: "ops",
			about: "Reconciles that ended, by result. Normal is success and requeue_after. error: it is tried again with back-off; requeue: the reconcile asked for that; terminal: no retry can mend it; panic: see the log."},
		queries: []query{{expr: `sum by (@cluster, name, controller, result) (rate(controller_reconcile_total{@controller}[$__rate_interval]))`, legend: legendController + " {{result}}"}},
	}
}

func failingShare(t catalog.Targets) panel {
	o := t.Of(catalog.ReconcileErrors)
	return timeSeries{
		header: header{id: 41, title: "Share that fails", unit: "percentunit",
			about: "Share of the reconciles that ended in an error or a panic. Near 0 is normal; conflicts add a few. No line where nothing is reconciled. Otherwise the log has the errors, and the dashboard of the API client the requests that failed."},
		queries: []query{{expr: `sum by (@cluster, name, controller) (rate(controller_reconcile_total{@controller, result=~"error|terminal|panic"}[$__rate_interval])) / (sum by (@cluster, name, controller) (rate(controller_reconcile_total{@controller}[$__rate_interval])) > 0)`, legend: legendController}},
		goal:    &o,
	}
}

func reconcileDuration() panel {
	return timeSeries{
		header: header{id: 42, title: "Reconcile duration", unit: "s",
			about: "How long reconciles take, all results together. Tens of milliseconds are normal for one that reads its cache and writes seldom; no line where nothing is reconciled. A p99 far from the median is a few objects, or waiting for the API server."},
		queries: []query{
			{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_reconcile_duration_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendController + " p99"},
			{expr: `histogram_quantile(0.5, sum by (le, @cluster, name, controller) (rate(controller_reconcile_duration_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendController + " p50"},
		},
	}
}

func workers() panel {
	return timeSeries{
		header: header{id: 43, title: "Workers, busy and in all", unit: "short",
			about: "Workers that reconcile, of the process with most of them, and how many it has where the controller says so. Fewer busy ones than there are is normal. All of them busy while items wait means that more workers, or faster reconciles, would help."},
		queries: []query{
			{expr: `max by (@cluster, name, controller) (controller_active_workers{@controller})`, legend: legendController + " busy"},
			{expr: `max by (@cluster, name, controller) (controller_max_workers{@controller})`, legend: legendController + " in all"},
		},
	}
}

func staleReads() panel {
	return timeSeries{
		header: header{id: 44, title: "Stale reads", unit: "short",
			about: "Reads from the cache of an object that the controller itself has written since, of controllers that track their writes. A few after writes are normal: the cache has not caught up. Many make a controller do its work twice: see the event lag of its informers."},
		queries: []query{{expr: `sum by (@cluster, name, controller) (increase(controller_stale_reads_total{@controller}[$__rate_interval]))`, legend: legendController}},
		stacked: true,
	}
}

func shutdownSteps() panel {
	return grid{
		header: header{id: 45, title: "Steps of shutdowns", unit: "short", empty: noneHere,
			about: "How long each step of a shutdown took, and how it ended. Seconds and done are normal. timeout: what was left is lost or delayed. Few processes are scraped after their end: no row is normal, and the log says the same."},
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
