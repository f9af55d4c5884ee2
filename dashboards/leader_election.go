package dashboards

// LeaderElectionUID is the stable id of the dashboard of leader election in Grafana's addresses.
const LeaderElectionUID = "informers-leader-election"

// leaderElection answers, from top to bottom: does every lock have one leader, who is it, and what makes it change.
func leaderElection(c Config) page {
	t := c.Targets
	return page{
		uid:       LeaderElectionUID,
		title:     "Controllers / Leader election",
		about:     "Which process leads, how often that changes, and whether leaders renew their locks in time, as the candidates themselves see it, and as the Leases of the cluster show it for any program.",
		variables: leaderVariables,
		alerts:    controllerAlerts + "|ClusterLease.+",
		leaders:   true,
		rows: []row{
			{id: 100, title: "Is it fine?", lines: []line{
				{height: 4, panels: []panel{
					withoutLeader(), leadersTooMany(), mostChanges(t), slowestRenewals(t), oldestRenewal(t), renewalP99(),
				}},
				{height: 9, panels: []panel{everyCandidate(t)}},
			}},
			{id: 200, title: "Changes: who leads, and since when?", lines: []line{
				{height: 7, panels: []panel{leaders()}},
				{height: 9, panels: []panel{leaderChanges(t), leaderEvents()}},
			}},
			{id: 300, title: "Renewals: is the lock kept?", lines: []line{
				{height: 9, panels: []panel{renewDuration(), slowRenewals(t), sinceRenewal()}},
			}},
			{id: 500, title: "Leases of the cluster, as informer-exporter sees them: of any program", lines: []line{
				{height: 9, panels: []panel{everyLease(t)}},
				{height: 9, panels: []panel{leasesByState(), sinceLeaseRenewal(), leaseChanges(t)}},
			}},
			{id: 400, title: "client-go's own metrics, of programs with the library and without", lines: []line{
				{height: 9, panels: []panel{upstreamLeaders(), upstreamSlowPath()}},
			}},
		},
	}
}
