package dashboards

import "strings"

// OverviewUID is the stable id of the overview in Grafana's addresses.
const OverviewUID = "informers-overview"

// overview answers for all programs together: is anything wrong, with which program, and since when. What it is, the other
// dashboards tell; the tables lead to them.
func overview(c Config) page {
	t := c.Targets
	return page{
		uid:       OverviewUID,
		title:     "Informers / Overview",
		about:     "Whether informers, controllers and leaders of all programs are well, the worst first. The tables lead to the details.",
		variables: programVariables,
		alerts:    strings.Join([]string{informerAlerts, controllerAlerts, clusterAlerts}, "|"),
		leaders:   true,
		rows: []row{
			{id: 100, title: "Is it fine?", lines: []line{
				{height: 4, panels: []panel{
					notSynced("@program"), watchesDown("@program"), worstSyncLag(t, "@program"), cachesDiffer("@program"),
					locksWithoutLeader(), worstReconciles(t), longestWait(t), worstRequests(t),
				}},
				{height: 7, panels: []panel{everyProgram(t)}},
				{height: 8, panels: []panel{worstControllers(t), firing()}, widths: []uint32{17, 7}},
				{height: 9, panels: []panel{worstInformers(t)}},
			}},
			{id: 200, title: "Since when?", lines: []line{
				{height: 9, panels: []panel{lagByProgram(t), disconnectsByProgram(t), eventLagByProgram(t)}},
				{height: 9, panels: []panel{failingByProgram(t), waitByJob(t), depthByJob(t)}},
				{height: 9, panels: []panel{failedRequestsByProgram(t), changesByLock(t), oldestHeld(t), objectsByProgram()}},
			}},
		},
	}
}
