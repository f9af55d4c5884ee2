package dashboards

import (
	"fmt"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// activeProblems counts the objectives that each program misses. The label kind keeps them apart.
func activeProblems(t catalog.Targets) string {
	number := func(o catalog.Objective) string { return catalog.FormatNumber(t.Of(o).Threshold) }
	var problems []string
	for i, expr := range []string{
		`max by (@cluster, name) (k8s_informer_synced{@program} == bool 0)`,
		`max by (@cluster, name) (k8s_informer_watch_connected{@program} == bool 0)`,
		`max by (@cluster, name) (k8s_informer_sync_lag_seconds{@program}) > bool ` + number(catalog.Objectives.SyncLag),
		`max by (@cluster, name) (k8s_informer_audit_differences{@program}) > bool ` + number(catalog.Objectives.CacheDiffers),
		`max by (@cluster, name) (` + leaderless + `)`,
		`max by (@cluster, name) (` + reconcileErrors + `) > bool ` + number(catalog.Objectives.ReconcileErrors),
		requestErrors + ` > bool ` + number(catalog.Objectives.ClientErrors),
	} {
		problems = append(problems, fmt.Sprintf(`label_replace(%s, "kind", "%d", "", "")`, expr, i))
	}
	return `sum by (@cluster, name) (` + strings.Join(problems, " or ") + `)`
}

func programTable(t catalog.Targets) panel {
	lag, failing, requests := t.Of(catalog.Objectives.SyncLag), t.Of(catalog.Objectives.ReconcileErrors), t.Of(catalog.Objectives.ClientErrors)
	return labelTable{
		header: header{id: 26, title: "Programs by active problems", unit: "short",
			description: "One row per program that uses the library, including the exporter. Problems counts the other columns that miss their objective, normally 0. Click a program for its informers. Empty cells: the program does not report the metric."},
		labels: []column{
			{label: "cluster", title: "Cluster"},
			{label: "name", title: "Program", link: &link{uid: DetailUID, title: "Informers of the program", sets: []string{"cluster", "name"}}},
		},
		columns: []column{
			{title: "Problems", red: 1, query: activeProblems(t)},
			{title: "Processes", query: `count by (@cluster, name) (count by (@cluster, name, @instance) (k8s_informer_synced{@program}))`},
			{title: "Not synced", red: 1, query: `sum by (@cluster, name) (k8s_informer_synced{@program} == bool 0)`},
			{title: "Watches down", red: 1, query: `sum by (@cluster, name) (k8s_informer_watch_connected{@program} == bool 0)`},
			{title: "Sync lag", unit: "s", red: lag.Threshold, query: `max by (@cluster, name) (k8s_informer_sync_lag_seconds{@program})`},
			{title: "Inconsistent", red: 1, query: `max by (@cluster, name) (k8s_informer_audit_differences{@program})`},
			{title: "No leader", red: 1, query: `sum by (@cluster, name) (` + leaderless + `)`},
			{title: "Reconcile errors", unit: "percentunit", red: failing.Threshold, query: `max by (@cluster, name) (` + reconcileErrors + `)`},
			{title: "Request errors", unit: "percentunit", red: requests.Threshold, query: requestErrors},
		},
		sortBy: "Problems",
	}
}

func fleetInformerTable(t catalog.Targets) panel {
	lag, disconnect := t.Of(catalog.Objectives.SyncLag), t.Of(catalog.Objectives.WatchDisconnects)
	return labelTable{
		header: header{id: 27, title: "Informers by sync lag", unit: "short",
			description: "One row per watched resource of a program, for its worst process. Normally synced, connected and without lag. Red cells miss an objective. Click a resource for details."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"},
			{label: "informer_type", title: "Resource", link: &link{uid: DetailUID, title: "Details of the informer", sets: []string{"cluster", "name", "informer_type", "watch_namespace"}}},
			{label: "watch_namespace", title: "Namespace", narrow: true}, // the scope of the informer, mostly *
		},
		columns: []column{
			{title: "Sync lag", unit: "s", red: lag.Threshold, query: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_sync_lag_seconds{@program})`},
			{title: "Synced", below: true, red: 1, names: yesNo, query: `min by (@cluster, name, informer_type, watch_namespace) (k8s_informer_synced{@program})`},
			{title: "Watch", below: true, red: 1, names: map[string]string{"0": "down", "1": "up"}, query: `min by (@cluster, name, informer_type, watch_namespace) (k8s_informer_watch_connected{@program})`},
			{title: "Disconnects", unit: "cpm", red: disconnect.Threshold, query: `60 * max by (@cluster, name, informer_type, watch_namespace) (sum without (reason) (rate(k8s_informer_watch_disconnects_total{@program}[$__rate_interval])))`},
			{title: "Pending events", query: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_handler_pending_events{@program})`},
			{title: "Inconsistent", red: 1, query: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_audit_differences{@program})`},
			{title: "Objects", query: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_objects{@program})`},
		},
		sortBy: "Sync lag",
	}
}

func fleetControllerTable(t catalog.Targets) panel {
	failing := t.Of(catalog.Objectives.ReconcileErrors)
	return labelTable{
		header: header{id: 28, title: "Controllers by reconcile error rate", unit: "short",
			description: "One row per controller that uses the library, over all processes. The error rate is normally near 0, and empty without reconciles. Red cells miss an objective. Click a controller for its queue and reconciles."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"},
			{label: "controller", title: "Controller", link: &link{uid: ControllersUID, title: "Queue and reconciles", sets: []string{"cluster", "controller"}}},
		},
		columns: []column{
			{title: "Error rate", unit: "percentunit", red: failing.Threshold, query: `sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program, result=~"error|terminal|panic"}[$__rate_interval])) / (sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program}[$__rate_interval])) > 0)`},
			{title: "Reconciles", unit: "ops", query: `sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program}[$__rate_interval]))`},
			{title: "Duration p99", unit: "s", query: `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_reconcile_duration_seconds_bucket{@program}[$__rate_interval]))) >= 0`},
			{title: "Delayed", query: `sum by (@cluster, name, controller) (controller_queue_delayed_items{@program})`},
			{title: "Cleanups overdue", red: 1, query: `sum by (@cluster, name, controller) (controller_finalizer_overdue{@program})`},
		},
		sortBy: "Error rate",
	}
}
