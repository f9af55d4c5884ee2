package dashboards

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// overview covers all programs. Its tables link to the other dashboards.
func overview(c Config) page {
	t := c.Targets
	return page{
		uid:         OverviewUID,
		title:       "Informers / Overview",
		description: "Active problems of informers, controllers and leader election across all programs. The tables link to details.",
		variables:   programVariables,
		alerts:      strings.Join([]string{informerAlerts, controllerAlerts, clusterAlerts}, "|"),
		leaders:     true,
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, panels: []panel{
					notSynced("@program"), watchesDown("@program"), worstSyncLag(t, "@program"), inconsistentCaches("@program"),
					locksWithoutLeader(), worstReconcileErrors(t), worstQueueLatency(t), worstRequestErrors(t),
				}},
				{height: 7, panels: []panel{programTable(t)}},
				{height: 8, panels: []panel{fleetControllerTable(t), firingAlertList()}, widths: []uint32{17, 7}},
				{height: 9, panels: []panel{fleetInformerTable(t)}},
			}},
			{id: 200, title: "Trends", lines: []line{
				{height: 9, panels: []panel{lagByProgram(t), disconnectsByProgram(t), eventLagByProgram(t)}},
				{height: 9, panels: []panel{reconcileErrorsByProgram(t), queueLatencyByJob(t), queueDepthByJob(t)}},
				{height: 9, panels: []panel{requestErrorsByProgram(t), leaseTransitionsByNamespace(t), oldestTerminatingByResource(t), objectsByProgram()}},
			}},
		},
	}
}

// Error rates are 0 when idle, and have no series without a decorated reconciler or client.
const (
	reconcileErrors = `sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program, result=~"error|terminal|panic"}[$__rate_interval])) / clamp_min(sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program}[$__rate_interval])), 1e-9)`
	requestErrors   = `(sum by (@cluster, name) (rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[$__rate_interval])) or 0 * sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval]))) / clamp_min(sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval])), 1e-9)`
	leaderless      = `max by (@cluster, name, lock) (controller_leader{@program}) == bool 0`
)

func locksWithoutLeader() panel {
	return singleStat{
		header: header{id: 20, title: "No leader", unit: "short",
			description: "Locks that have no leader, as reported by the candidates. Normally 0, except for seconds during a handover. No data: no lock is decorated. See the leader election dashboard."},
		query: `sum(` + leaderless + `)`,
		red:   1,
	}
}

func worstReconcileErrors(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 21, title: "Reconcile error rate", unit: "percentunit",
			description: "Share of reconciles that end in an error or a panic, for the worst controller. Normally near 0; 0 when idle."},
		query: `max(` + reconcileErrors + `)`,
		goal:  new(t.Of(catalog.Objectives.ReconcileErrors)),
	}
}

func worstQueueLatency(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 22, title: "Queue latency p99", unit: "s",
			description: "99th percentile of the time items spend in a queue, for the slowest queue, with or without the library. Normally milliseconds. The program variable does not apply."},
		query: `max(histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_queue_duration_seconds_bucket{@target}[$__rate_interval]))) >= 0)`,
		goal:  new(t.Of(catalog.Objectives.QueueWait)),
	}
}

func worstRequestErrors(t catalog.Targets) panel {
	return singleStat{
		header: header{id: 23, title: "Request error rate", unit: "percentunit",
			description: "Share of API server requests that get no response, a 5xx or a 429, for the worst program. Normally 0; 0 when idle."},
		query: `max(` + requestErrors + `)`,
		goal:  new(t.Of(catalog.Objectives.ClientErrors)),
	}
}

func firingAlertList() panel {
	return alertList{
		header: header{id: 25, title: "Firing alerts",
			description: "Firing alerts of these rules in all clusters, most severe first. Normally empty. Each links to its rule and runbook. Also empty if Grafana cannot read the rules of its data sources."},
		names: informerAlerts + "|" + controllerAlerts + "|" + clusterAlerts,
	}
}
