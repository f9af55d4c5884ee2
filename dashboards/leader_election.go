package dashboards

// LeaderElectionUID is the uid of the dashboard in Grafana. It never changes.
const LeaderElectionUID = "informers-leader-election"

// leaderElection covers locks as their candidates report them, and Leases.
func leaderElection(c Config) page {
	t := c.Targets
	return page{
		uid:         LeaderElectionUID,
		title:       "Controllers / Leader election",
		description: "Leaders, leader transitions and lock renewals as the candidates report them, and Leases of all programs.",
		variables:   leaderVariables,
		alerts:      controllerAlerts + "|ClusterLease.+",
		leaders:     true,
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, panels: []panel{
					noLeader(), splitBrain(), worstTransitions(t), worstSlowRenewals(t), oldestRenewal(t), renewalP99(),
				}},
				{height: 9, panels: []panel{candidateTable(t)}},
			}},
			{id: 200, title: "Leaders", lines: []line{
				{height: 7, panels: []panel{leaders()}},
				{height: 9, panels: []panel{leaderTransitions(t), leaderEvents()}},
			}},
			{id: 300, title: "Renewals", lines: []line{
				{height: 9, panels: []panel{renewDuration(), slowRenewals(t), sinceRenewal()}},
			}},
			{id: 500, title: "Leases (all programs, from informer-exporter)", lines: []line{
				{height: 9, panels: []panel{leaseTable(t)}},
				{height: 9, panels: []panel{leasesByState(), sinceLeaseRenewal(), leaseTransitions(t)}},
			}},
			{id: 400, title: "client-go metrics (with or without the library)", lines: []line{
				{height: 9, panels: []panel{upstreamLeaderTable(), upstreamSlowPath()}},
			}},
		},
	}
}
