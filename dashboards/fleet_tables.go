package dashboards

import (
	"fmt"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// problems counts the kinds of trouble that each program has. Kinds without a label of their own would hide one another.
func problems(t catalog.Targets) string {
	number := func(o catalog.Objective) string { return catalog.FormatNumber(t.Of(o).Threshold) }
	var kinds []string
	for i, expr := range []string{
		`max by (@cluster, name) (k8s_informer_synced{@program} == bool 0)`,
		`max by (@cluster, name) (k8s_informer_watch_connected{@program} == bool 0)`,
		`max by (@cluster, name) (k8s_informer_sync_lag_seconds{@program}) > bool ` + number(catalog.SyncLag),
		`max by (@cluster, name) (k8s_informer_audit_differences{@program}) > bool ` + number(catalog.CacheDiffers),
		`max by (@cluster, name) (` + leaderless + `)`,
		`max by (@cluster, name) (` + reconcilesFailing + `) > bool ` + number(catalog.ReconcileErrors),
		requestsFailing + ` > bool ` + number(catalog.ClientErrors),
	} {
		kinds = append(kinds, fmt.Sprintf(`label_replace(%s, "kind", "%d", "", "")`, expr, i))
	}
	return `sum by (@cluster, name) (` + strings.Join(kinds, " or ") + `)`
}

func everyProgram(t catalog.Targets) panel {
	lag, failing, requests := t.Of(catalog.SyncLag), t.Of(catalog.ReconcileErrors), t.Of(catalog.ClientErrors)
	return grid{
		header: header{id: 26, title: "Every program, the one in most trouble first", unit: "short",
			about: "One row for each program that uses the library, and for the exporter. Problems counts the columns that miss an objective, of all but the number of processes: 0 is normal. A click on the program leads to its informers. No value where a program has nothing of the kind."},
		labels: []column{
			{label: "cluster", title: "Cluster"},
			{label: "name", title: "Program", link: &link{uid: DetailUID, title: "Informers of the program", sets: []string{"cluster", "name"}}},
		},
		columns: []column{
			{title: "Problems", bad: true, red: 1, query: problems(t)},
			{title: "Processes", query: `count by (@cluster, name) (count by (@cluster, name, @instance) (k8s_informer_synced{@program}))`},
			{title: "Not synced", bad: true, red: 1, query: `sum by (@cluster, name) (k8s_informer_synced{@program} == bool 0)`},
			{title: "Watches down", bad: true, red: 1, query: `sum by (@cluster, name) (k8s_informer_watch_connected{@program} == bool 0)`},
			{title: "Lag", unit: "s", bad: true, red: lag.Threshold, query: `max by (@cluster, name) (k8s_informer_sync_lag_seconds{@program})`},
			{title: "Differences", bad: true, red: 1, query: `max by (@cluster, name) (k8s_informer_audit_differences{@program})`},
			{title: "Leaderless", bad: true, red: 1, query: `sum by (@cluster, name) (` + leaderless + `)`},
			{title: "Failing", unit: "percentunit", bad: true, red: failing.Threshold, query: `max by (@cluster, name) (` + reconcilesFailing + `)`},
			{title: "Requests fail", unit: "percentunit", bad: true, red: requests.Threshold, query: requestsFailing},
		},
		sortBy: "Problems",
	}
}

func worstInformers(t catalog.Targets) panel {
	lag, disconnect := t.Of(catalog.SyncLag), t.Of(catalog.WatchDisconnects)
	return grid{
		header: header{id: 27, title: "Every informer, the furthest behind first", unit: "short",
			about: "One row for each resource that a program watches, of the worst process. Normal is a lag of 0, synced and connected. Red cells miss an objective. A click on the resource leads to the details."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"},
			{label: "informer_type", title: "Resource", link: &link{uid: DetailUID, title: "Details of the informer", sets: []string{"cluster", "name", "informer_type", "watch_namespace"}}},
			{label: "watch_namespace", title: "Namespace", narrow: true}, // what is watched, not where objects are: * nearly always
		},
		columns: []column{
			{title: "Sync lag", unit: "s", bad: true, red: lag.Threshold, query: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_sync_lag_seconds{@program})`},
			{title: "Synced", bad: true, under: true, red: 1, words: yesNo, query: `min by (@cluster, name, informer_type, watch_namespace) (k8s_informer_synced{@program})`},
			{title: "Watch", bad: true, under: true, red: 1, words: map[string]string{"0": "down", "1": "up"}, query: `min by (@cluster, name, informer_type, watch_namespace) (k8s_informer_watch_connected{@program})`},
			{title: "Disconnects", unit: "cpm", bad: true, red: disconnect.Threshold, query: `60 * max by (@cluster, name, informer_type, watch_namespace) (sum without (reason) (rate(k8s_informer_watch_disconnects_total{@program}[$__rate_interval])))`},
			{title: "Pending", query: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_handler_pending_events{@program})`},
			{title: "Differences", bad: true, red: 1, query: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_audit_differences{@program})`},
			{title: "Objects", query: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_objects{@program})`},
		},
		sortBy: "Sync lag",
	}
}

func worstControllers(t catalog.Targets) panel {
	failing := t.Of(catalog.ReconcileErrors)
	return grid{
		header: header{id: 28, title: "Every controller, the one that fails most first", unit: "short",
			about: "One row for each controller that uses the library, of all its processes. Normal is that hardly any reconcile fails. Red cells miss an objective. A click on the controller leads to its queue and reconciles. No share where nothing was reconciled."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"},
			{label: "controller", title: "Controller", link: &link{uid: ControllersUID, title: "Queue and reconciles", sets: []string{"cluster", "controller"}}},
		},
		columns: []column{
			{title: "Failing", unit: "percentunit", bad: true, red: failing.Threshold, query: `sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program, result=~"error|terminal|panic"}[$__rate_interval])) / (sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program}[$__rate_interval])) > 0)`},
			{title: "Reconciles", unit: "ops", query: `sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program}[$__rate_interval]))`},
			{title: "p99", unit: "s", query: `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_reconcile_duration_seconds_bucket{@program}[$__rate_interval]))) >= 0`},
			{title: "In back-off", query: `sum by (@cluster, name, controller) (controller_queue_delayed_items{@program})`},
			{title: "Clean-ups late", bad: true, red: 1, query: `sum by (@cluster, name, controller) (controller_finalizer_overdue{@program})`},
		},
		sortBy: "Failing",
	}
}
