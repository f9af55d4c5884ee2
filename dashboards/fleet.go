package dashboards

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// fleet covers all clusters. It reads only recorded series, one per cluster and signal, and for firing alerts one per program,
// so that hundreds of clusters cost no more samples than one program on the other dashboards.
func fleet(c Config) page {
	t := c.Targets
	return page{
		uid:         FleetUID,
		title:       "Informers / Fleet",
		description: "All clusters, worst first, from recording rules. Click a cluster for its Overview.",
		variables:   []variable{{name: "cluster", title: "Cluster", series: "cluster:informer_exporter_jobs:count", all: ".*"}},
		rows: []row{
			{id: 100, title: "Clusters", lines: []line{
				{height: 4, panels: []panel{
					fleetTile(1, "Clusters", "Clusters that report to this Prometheus.", `count(cluster:informer_exporter_jobs:count{@cluster=~"$cluster"})`, 0),
					fleetTile(2, "Clusters with pages", "Clusters with an alert of severity page that is firing and not muted. Normally 0.", fleetAlerts("count", "@page"), 1),
					fleetTile(3, "Pages", "Notifications of severity page in all clusters: firing alerts that are not muted, once per program. Normally 0.", fleetAlerts("sum", "@page"), 1),
					fleetTile(4, "Tickets", "Notifications of severity ticket in all clusters: firing alerts that are not muted, once per program.", fleetAlerts("sum", "@ticket"), 0),
				}},
				{height: 10, panels: []panel{clusterTable()}},
				{height: 8, panels: []panel{worstPrograms(c)}},
			}},
			{id: 200, title: "Trends", lines: []line{
				{height: 9, panels: []panel{
					fleetTrend(header{id: 20, title: "Pages and tickets by cluster", unit: "short", description: "Firing alerts of severity page or ticket that are not muted, for the ten clusters with the most. A rise in all clusters together: a rollout, or the network between them."}, `sum by (@cluster) (cluster:informer_exporter_alerts:count{@cluster=~"$cluster", `+anySeverity+`}) or 0 * max by (@cluster) (cluster:informer_exporter_jobs:count{@cluster=~"$cluster"})`, nil),
					fleetTrend(header{id: 21, title: "Sync lag by cluster", unit: age, description: "Sync lag of the worst informer, for the ten clusters with the highest lag. Normally 0."}, `cluster:k8s_informer_sync_lag_seconds:max{@cluster=~"$cluster"}`, new(t.Of(catalog.Objectives.SyncLag))),
				}},
				{height: 9, panels: []panel{
					fleetTrend(header{id: 22, title: "Reconcile error rate by cluster", unit: "percentunit", description: "Share of reconciles that end in an error or a panic, for the ten clusters with the highest share. Normally near 0."}, `cluster:controller_reconcile_errors:ratio_rate{@cluster=~"$cluster"}`, nil),
					fleetTrend(header{id: 23, title: "Request error rate by cluster", unit: "percentunit", description: "Share of API server requests that get no response, a 5xx or a 429, for the ten clusters with the highest share. Normally 0."}, `cluster:k8s_client_request_errors:ratio_rate{@cluster=~"$cluster"}`, nil),
				}},
			}},
		},
	}
}

// fleetAlerts aggregates the numbers of alerts by cluster. Without alerts it is 0, if any cluster is recorded.
func fleetAlerts(aggregate, severity string) string {
	return aggregate + `(cluster:informer_exporter_alerts:count{@cluster=~"$cluster", @severity="` + severity + `"}) or 0 * max(cluster:informer_exporter_jobs:count{@cluster=~"$cluster"})`
}

func fleetTile(id uint32, title, description, expr string, red float64) panel {
	return singleStat{header: header{id: id, title: title, unit: "short", description: description + " No data: no Prometheus evaluates the recording rules."},
		query: expr, red: red,
	}
}

func fleetTrend(h header, expr string, goal *catalog.Objective) panel {
	return timeSeries{header: h, queries: []query{{expr: expr, legend: "{{@cluster}}"}}, goal: goal, top: true}
}

func clusterTable() panel {
	recorded := func(name string) string { return `max by (@cluster) (` + name + `{@cluster=~"$cluster"})` } // max by drops the metric names, which differ
	alerts := func(severity string) string {
		return `sum by (@cluster) (cluster:informer_exporter_alerts:count{@cluster=~"$cluster", @severity="` + severity + `"}) or 0 * max by (@cluster) (cluster:informer_exporter_jobs:count{@cluster=~"$cluster"})`
	}
	return labelTable{header: header{id: 10, title: "Clusters by pages", unit: "short",
		description: "One row per cluster. Pages and Tickets are firing alerts that are not muted. Not synced and Watches down count informers, over all processes. Red cells miss an objective. Click a cluster for its Overview."},
		labels: []column{{label: "cluster", title: "Cluster", link: &link{uid: OverviewUID, title: "Overview of the cluster", sets: []string{"cluster"}}}},
		columns: []column{
			{title: "Pages", red: 1, query: alerts("@page")},
			{title: "Tickets", query: alerts("@ticket")},
			{title: "Jobs", query: recorded("cluster:informer_exporter_jobs:count")},
			{title: "Not synced", red: 1, query: recorded("cluster:k8s_informer_synced:missing")},
			{title: "Watches down", red: 1, query: recorded("cluster:k8s_informer_watch_connected:missing")},
			{title: "Sync lag", unit: age, goal: &catalog.Objectives.SyncLag, query: recorded("cluster:k8s_informer_sync_lag_seconds:max")},
			{title: "No leader", red: 1, query: recorded("cluster:controller_leader:missing")},
			{title: "Reconcile errors", unit: "percentunit", goal: &catalog.Objectives.ReconcileErrors, query: recorded("cluster:controller_reconcile_errors:ratio_rate")},
			{title: "Request errors", unit: "percentunit", goal: &catalog.Objectives.ClientErrors, query: recorded("cluster:k8s_client_request_errors:ratio_rate")},
		},
		sortBy: []string{"Pages", "Tickets"}, clusters: true,
	}
}

// worstPrograms has only one query: with several, Grafana does not show the text of a table without rows.
func worstPrograms(c Config) panel {
	return labelTable{header: header{id: 12, title: "Programs with firing alerts", unit: "short", empty: normallyEmpty,
		description: "One row per cluster, program and severity. Muted alerts do not count. Pages come first; queues count under their own name. Normally empty. Click a program for its informers."},
		labels: []column{
			{label: "cluster", title: "Cluster", link: &link{uid: OverviewUID, title: "Overview of the cluster", sets: []string{"cluster"}}},
			{label: "name", title: "Program", link: &link{uid: DetailUID, title: "Informers of the program", sets: []string{"cluster", "name"}}},
			{label: c.series().SeverityLabel(), title: "Severity", narrow: true},
		},
		columns: []column{{title: "Alerts", query: `sum by (@cluster, name, @severity) (cluster_name:informer_exporter_alerts:count{@cluster=~"$cluster", ` + anySeverity + `})`}},
		sortBy:  []string{"Severity", "Alerts"}, clusters: true, // page, ticket; critical, warning
	}
}
