package dashboards

import "strings"

// OverviewUID is the uid of the dashboard in Grafana. It never changes.
const OverviewUID = "informers-overview"

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
