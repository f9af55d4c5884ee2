package dashboards

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

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
				{height: 4, panels: []panel{noLeader, splitBrain, worstTransitions, worstSlowRenewals, oldestRenewal(t), meanRenewal}},
				{height: 9, panels: []panel{candidateTable}},
			}},
			{id: 200, title: "Leaders", lines: []line{
				{height: 7, panels: []panel{leaders}},
				{height: 9, panels: []panel{leaderTransitions, leaderEvents}},
			}},
			{id: 300, title: "Renewals", lines: []line{
				{height: 9, panels: []panel{renewDuration, slowRenewals, sinceRenewal}},
			}},
			{id: 500, title: "Leases (all programs, from informer-exporter)", lines: []line{
				{height: 9, panels: []panel{leaseTable}},
				{height: 9, panels: []panel{leasesByState, sinceLeaseRenewal, leaseTransitions}},
			}},
			{id: 400, title: "client-go metrics (with or without the library)", collapsed: true, lines: []line{
				{height: 9, panels: []panel{upstreamSlowPath}},
			}},
		},
	}
}

var renewDuration = timeSeries{header: header{id: 30, title: "Mean renewal duration", unit: "s",
	description: "Mean duration of lock renewals, by result. Normally milliseconds and success. conflict: another process wrote the lock. error: the API server rejected the request or did not respond. client-go gives up leadership after 10 s without success."},
	queries: []query{{expr: `sum by (@cluster, name, lock, result) (rate(controller_leader_renew_duration_seconds_sum{@lock}[$__rate_interval])) / (sum by (@cluster, name, lock, result) (rate(controller_leader_renew_duration_seconds_count{@lock}[$__rate_interval])) > 0)`, legend: legendLock + " {{result}}"}},
}

var slowRenewals = timeSeries{header: header{id: 31, title: "Slow renewals in 15 minutes", unit: "short",
	description: "Renewals that took longer than the retry period, over the previous 15 minutes, for the worst process. Normally 0. Causes: a slow API server or etcd, client-side throttling, or lack of CPU."},
	queries: []query{{expr: `max by (@cluster, name, lock) (` + prom.Occurred(`controller_leader_slow_renewals_total{@lock}`, `@leader_slow_renewals`) + `)`, legend: legendLock}},
	goal:    &catalog.Objectives.SlowRenewals,
}

var sinceRenewal = timeSeries{header: header{id: 32, title: "Time since last renewal", unit: age,
	description: "Time since any candidate renewed the lock. Normally a few seconds plus the scrape interval. A rise of one second per second means no leader, or processes that are no longer scraped."},
	queries: []query{{expr: `time() - max by (@cluster, name, lock) (controller_leader_last_renew_timestamp_seconds{@lock} > 0)`, legend: legendLock}},
}
