package dashboards

import (
	"fmt"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// overview covers all programs of a cluster. Its first screen shows alerts as Prometheus evaluates them, without conditions of
// its own.
func overview(c Config) page {
	t := c.Targets
	p := page{
		uid:         OverviewUID,
		title:       "Informers / Overview",
		description: "Firing and pending alerts about informers, controllers and leader election, and the state of all programs in a cluster. Tiles and tables link to details.",
		variables:   programVariables,
		alerts:      strings.Join([]string{informerAlerts, controllerAlerts, clusterAlerts}, "|"),
		leaders:     true,
	}
	p.rows = []row{
		{id: 100, title: "Alerts", lines: []line{
			{height: 4, panels: []panel{
				p.severityTile(1, "Pages", catalog.Page), p.severityTile(2, "Tickets", catalog.Ticket),
				p.areaTile(3, "Informer alerts", DetailUID, informerAlerts, exporterAlerts), p.areaTile(4, "Controller alerts", ControllersUID, controllerAlerts, `ControllerLeader.+`),
				p.areaTile(5, "Leader alerts", LeaderElectionUID, `ControllerLeader.+|ClusterLease.+`, ""), p.areaTile(6, "Other alerts", ObjectsUID, `Cluster(Object|Namespace|Generation|Watch).+|`+exporterAlerts, ""),
			}},
			{height: 8, panels: []panel{p.activeAlerts(c)}},
			{height: 8, panels: []panel{p.programTable()}},
		}},
		{id: 200, title: "Informers", lines: []line{
			{height: 9, panels: []panel{lagByProgram, disconnectsByProgram, lateEventsByProgram(t)}},
			{height: 9, panels: []panel{worstInformers(), objectsByProgram}, widths: []uint32{16, 8}},
		}},
		{id: 300, title: "Controllers", lines: []line{
			{height: 9, panels: []panel{reconcileErrorsByProgram, slowItemsByJob(t), queueDepthByJob}},
			{height: 9, panels: []panel{worstControllers, requestErrorsByProgram}, widths: []uint32{16, 8}},
		}},
		{id: 400, title: "Cluster", lines: []line{
			{height: 9, panels: []panel{leaseTransitionsByNamespace, oldestTerminatingByResource}},
		}},
	}
	return p
}

// Alerts with the severity info need no action, and are not shown.
const (
	activeStates  = "pending|firing"
	firing        = "firing"
	pending       = "pending"
	anySeverity   = `@severity=~"@page|@ticket"`
	programLabels = "@cluster, name"
)

// rulesExist is 0 if the rules are evaluated and programs are scraped. Otherwise it has no result, so that tiles show No data
// instead of 0.
const rulesExist = `0 * max(cluster:informer_exporter_jobs:count{@cluster="$cluster"})`

// leadersKnown has a result if a process is a leader, or an exporter's watch of Leases is open.
const leadersKnown = `(controller_leader{@target} == 1 or k8s_informer_watch_connected{@target, informer_type="leases.coordination.k8s.io"} == 1)`

// muted are the alerts, firing or pending, that the generated Alertmanager configuration mutes, with the labels of ALERTS.
const muted = `alert:informer_exporter_alerts:muted`

// notMuted selects alerts that Alertmanager does not mute. Without the recording rule, all are.
func notMuted(matchers string) string {
	return `(ALERTS{` + matchers + `} unless ` + muted + `{@cluster="$cluster"})`
}

// alertTile is a number of notifications, red if there is one: alerts of a program with the same name are one notification.
func alertTile(h header, matchers, otherwise string, to *link) panel {
	h.unit = "short"
	h.description += " Counts firing alerts once per program, as Alertmanager groups them, and not those that it mutes because another alert explains them. No data: no program is scraped, or Prometheus does not evaluate the rules."
	return singleStat{header: h, query: `count(group by (alertname, name, @severity) ` + notMuted(matchers) + `) or ` + otherwise, red: 1, link: to}
}

func (p page) severityTile(id uint32, title string, severity catalog.Severity) panel {
	return alertTile(header{id: id, title: title, description: "Notifications of this severity. Normally 0."},
		p.alertMatchers(`@severity="@`+string(severity)+`"`, firing), rulesExist, nil)
}

func (p page) areaTile(id uint32, title, uid, names, not string) panel {
	p.alerts = names
	matchers := p.alertMatchers(anySeverity, firing)
	if not != "" {
		matchers += `, alertname!~"` + not + `"`
	}
	h, otherwise := header{id: id, title: title, description: "Pages and tickets in this area. Normally 0."}, rulesExist
	switch uid {
	case ObjectsUID:
		h.description = "Pages and tickets about the objects of the cluster, its API server and the exporter. Normally 0."
	case LeaderElectionUID:
		h.description += " Also no data: no process is a leader, and no exporter watches Leases."
		otherwise += ` and on () ` + leadersKnown
	}
	return alertTile(h, matchers, otherwise, &link{uid: uid, title: title, sets: []string{"cluster"}})
}

// activeAlerts lists alerts by their labels. Its rows come from ALERTS, so the table works with the rules of any Prometheus.
func (p page) activeAlerts(c Config) panel {
	const by = `alertname, @severity, @cluster, name`
	count := func(vector string) string { return `count by (` + by + `, alertstate) (` + vector + `)` }
	sent, later := notMuted(p.alertMatchers(anySeverity, firing)), `ALERTS{`+p.alertMatchers(anySeverity, pending)+`}`
	explained := `label_replace(` + muted + `{` + p.alertMatchers(anySeverity, firing) + `}, "alertstate", "muted", "", "")`
	times := strings.Replace(p.alertMatchers(anySeverity, firing), `, alertstate=~"`+firing+`"`, "", 1)
	runbook := &link{url: strings.TrimSuffix(c.RunbookBase, "/") + "/${__data.fields.Alert}.md", title: "Runbook"}
	if c.RunbookBase == "" {
		runbook = nil
	}
	return labelTable{header: header{id: 25, title: "Active alerts", unit: "short", empty: normallyEmpty,
		description: "Firing alerts, pages first, then alerts that Alertmanager mutes because another alert explains them, then pending alerts. One row per alert and program: each firing row is one notification. Normally empty. Instances counts the resources, controllers and processes that the alert is about. Click an alert for its runbook, a program for its informers."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: c.series().SeverityLabel(), title: "Severity", narrow: true}, {label: "alertstate", title: "State", narrow: true},
			{label: "alertname", title: "Alert", link: runbook},
			{label: "name", title: "Program", link: &link{uid: DetailUID, title: "Informers of the program", sets: []string{"cluster", "name"}}},
		},
		columns: []column{
			{title: "Instances", query: count(sent) + ` or ` + count(explained) + ` or ` + count(later)},
			{title: "Since", unit: "dateTimeFromNow", query: `1000 * min by (` + by + `) (ALERTS_FOR_STATE{` + times + `})`},
		},
		sortBy: []string{"State", "Severity", "Since"}, // firing, muted, pending; page, ticket or critical, warning
	}
}

func (p page) programTable() panel {
	// Replicas without informers or queues, such as standbys, have other series. A process counts once for all jobs that scrape it.
	// Programs without the library are found by their queues, and have their job as name. Programs that are gone are found by their
	// alerts, except alerts with the name of a queue.
	processes := `(count by (` + programLabels + `) (group by (` + programLabels + `, @instance) (` +
		`group by (` + programLabels + `, @job, @instance) ({@program, __name__=~"k8s_informer_synced|controller_leader|controller_active_workers|k8s_client_requests_total"}) ` +
		`or on (@cluster, @job, @instance) label_join(group by (@cluster, @job, @instance) (workqueue_depth{@upstreamProgram}), "name", "", "@job"))) ` +
		`or 0 * count by (` + programLabels + `) (ALERTS{` + p.alertMatchers(anySeverity, activeStates) + `, name!="", alertname!~"Controller(Queue|Worker|Histograms).+"}))`
	return labelTable{header: header{id: 26, title: "Programs by active alerts", unit: "short",
		description: "One row per program, including the exporter. The name of a program without the library is its job. Alerts counts different alerts that are firing or pending and not muted, normally 0. A program without processes is gone, but its alerts are not. Click a program for its informers."},
		labels: []column{
			{label: "cluster", title: "Cluster"},
			{label: "name", title: "Program", link: &link{uid: DetailUID, title: "Informers of the program", sets: []string{"cluster", "name"}}},
		},
		columns: []column{
			{title: "Alerts", red: 1, query: fmt.Sprintf(`count by (%s) (group by (%s, alertname, @severity) %s) or 0 * %s`, programLabels, programLabels, notMuted(p.alertMatchers(anySeverity, activeStates)), processes)},
			{title: "Processes", query: processes},
			{title: "Sync lag", unit: age, goal: &catalog.Objectives.SyncLag, query: `max by (` + programLabels + `) (k8s_informer_sync_lag_seconds{@program})`},
		},
		sortBy: []string{"Alerts", "Processes"}, rows: "Processes",
	}
}
