package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

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

func renewDuration() panel {
	return timeSeries{
		header: header{id: 30, title: "Renewal duration p99", unit: "s",
			description: "99th percentile of the duration of lock renewals, by result. Normally milliseconds and success. conflict: another process wrote the lock. error: the API server rejected the request or did not respond. client-go gives up leadership after 10 s without success."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, lock, result) (rate(controller_leader_renew_duration_seconds_bucket{@lock}[$__rate_interval])))`, legend: legendLock + " {{result}}"}},
	}
}

func slowRenewals(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 31, title: "Slow renewals in 15 minutes", unit: "short",
			description: "Renewals that took longer than the retry period, over the previous 15 minutes, for the worst process. Normally 0. Causes: a slow API server or etcd, client-side throttling, or lack of CPU."},
		queries: []query{{expr: `max by (@cluster, name, lock) (increase(controller_leader_slow_renewals_total{@lock}[@leader_slow_renewals]))`, legend: legendLock}},
		goal:    new(t.Of(catalog.Objectives.SlowRenewals)),
	}
}

func sinceRenewal() panel {
	return timeSeries{
		header: header{id: 32, title: "Time since last renewal", unit: "s",
			description: "Time since any candidate renewed the lock. Normally a few seconds plus the scrape interval. A rise of one second per second means no leader, or processes that are no longer scraped."},
		queries: []query{{expr: `time() - max by (@cluster, name, lock) (controller_leader_last_renew_timestamp_seconds{@lock} > 0)`, legend: legendLock}},
	}
}
