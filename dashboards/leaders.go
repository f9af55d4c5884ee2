package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func withoutLeader() panel {
	return single{
		header: header{id: 1, title: "Without a leader", unit: "short",
			about: "Locks that no process holds, as far as these processes know. Normal is 0, except for the seconds of a handover. Otherwise nothing is reconciled there: see the renewals, and whether the candidates reach the API server."},
		query: `sum(max by (@cluster, name, lock) (controller_leader{@lock}) == bool 0)`,
		red:   1,
	}
}

func leadersTooMany() panel {
	return single{
		header: header{id: 2, title: "Leaders too many", unit: "short",
			about: "Processes that hold a lock although another one does too. Normal is 0; after a handover it may be 1 until both have been scraped. If it lasts, clocks differ by more than the lease allows, or two programs use one name for two locks."},
		query: `sum(clamp_min(sum by (@cluster, name, lock) (controller_leader{@lock}) - 1, 0))`,
		red:   1,
	}
}

func mostChanges(t catalog.Targets) panel {
	o := t.Of(catalog.LeaderChanges)
	return single{
		header: header{id: 3, title: "Changes in 15 min", unit: "short",
			about: "Times that a process became the leader in the last quarter of an hour, of the lock that changed most. Normal is 0, and one or two in a roll-out. The objective is " + o.Goal() + "."},
		query: `max(sum by (@cluster, name, lock) (increase(controller_leader_transitions_total{@lock, event="acquired"}[@leader_changes])))`,
		red:   o.Threshold,
	}
}

func slowestRenewals(t catalog.Targets) panel {
	o := t.Of(catalog.SlowRenewals)
	return single{
		header: header{id: 4, title: "Slow renewals in 15 min", unit: "short",
			about: "Renewals that took longer than the time after which they are tried again, of the worst process in the last quarter of an hour. Normal is 0. The objective is " + o.Goal() + "; if none succeeds within 10 s (client-go's usual), the lock is lost."},
		query: `max(increase(controller_leader_slow_renewals_total{@lock}[@leader_slow_renewals]))`,
		red:   o.Threshold,
	}
}

func oldestRenewal(t catalog.Targets) panel {
	o := t.Of(catalog.LeaderMissing)
	return single{
		header: header{id: 5, title: "Oldest renewal", unit: "s",
			about: "Since the last renewal of the lock that was renewed longest ago, by whichever process. A few seconds and the time since the last scrape are normal. Red is when the lack of a leader would alert."},
		query: `max(time() - max by (@cluster, name, lock) (controller_leader_last_renew_timestamp_seconds{@lock} > 0))`,
		red:   o.For.Seconds(),
	}
}

func renewalP99() panel {
	return single{
		header: header{id: 6, title: "Renewal p99", unit: "s",
			about: "99th percentile of the time that a request to renew a lock takes, of the slowest lock. Milliseconds are normal. Beyond 2 s, client-go's time between two attempts, a renewal is slow."},
		query: `max(histogram_quantile(0.99, sum by (le, @cluster, name, lock) (rate(controller_leader_renew_duration_seconds_bucket{@lock}[$__rate_interval]))))`,
		idle:  "idle",
	}
}

func everyCandidate(t catalog.Targets) panel {
	slow := t.Of(catalog.SlowRenewals)
	return grid{
		header: header{id: 7, title: "Every candidate, leaders first", unit: "short",
			about: "One row for each process and lock. One leader for each lock is normal, and a renewal seconds ago where it leads. Red cells miss an objective."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "lock", title: "Lock"}, {label: "instance", title: "Instance"},
		},
		columns: []column{
			{title: "Leads", words: yesNo, query: `max by (@cluster, name, lock, @instance) (controller_leader{@lock})`},
			{title: "Last renewal", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, name, lock, @instance) (controller_leader_last_renew_timestamp_seconds{@lock} > 0)`},
			{title: "Became leader", query: `sum by (@cluster, name, lock, @instance) (increase(controller_leader_transitions_total{@lock, event="acquired"}[@leader_changes]))`},
			{title: "Slow renewals", bad: true, red: slow.Threshold, query: `sum by (@cluster, name, lock, @instance) (increase(controller_leader_slow_renewals_total{@lock}[@leader_slow_renewals]))`},
		},
		sortBy: "Leads",
	}
}

func leaders() panel {
	return timeline{
		header: header{id: 20, title: "Who leads", unit: "short",
			about: "When each process held its lock. One green band for each lock is normal, for as long as its process lives; the others wait. Where all bands are grey there was no leader; where there is none, nothing was scraped."},
		query: query{expr: `max by (@cluster, name, lock, @instance) (controller_leader{@lock})`, legend: legendLock + " {{@instance}}"},
		no:    "waits", yes: "leads",
		neutral: true,
	}
}

func leaderChanges(t catalog.Targets) panel {
	o := t.Of(catalog.LeaderChanges)
	return timeSeries{
		header: header{id: 21, title: "Leader changes in 15 minutes", unit: "short",
			about: "Times that some process became the leader in the quarter of an hour before. Normal is 0, and one or two in a roll-out. More are leaders that cannot renew their lock in time: see the renewals. Each change costs a full start: lists, and a reconcile of everything."},
		queries: []query{{expr: `sum by (@cluster, name, lock) (increase(controller_leader_transitions_total{@lock, event="acquired"}[@leader_changes]))`, legend: legendLock}},
		goal:    &o,
	}
}

func leaderEvents() panel {
	return timeSeries{
		header: header{id: 22, title: "Changes of leadership", unit: "short",
			about: "What happened to the leadership of processes. Normal is none, and in a roll-out one released and one acquired. lost: the lock could not be renewed in time, or another process took it. acquired without released before it is a process that died: the others had to wait until the lease expired."},
		queries: []query{{expr: `sum by (@cluster, name, lock, event) (increase(controller_leader_transitions_total{@lock}[$__rate_interval]))`, legend: legendLock + " {{event}}"}},
		stacked: true,
	}
}

func upstreamLeaders() panel {
	return grid{
		header: header{id: 40, title: "Who leads, by client-go's own metric", unit: "short",
			about: "One row for each process that takes part in an election. One leader for each lock and job is normal. The variable for the lock does not apply here, because client-go's name for it may be another one."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "job", title: "Job"}, {label: "name", title: "Lock"}, {label: "instance", title: "Instance"},
		},
		columns: []column{
			{title: "Leads", words: yesNo, query: `max by (@cluster, @job, name, @instance) (leader_election_master_status{@target})`},
		},
		sortBy: "Leads",
	}
}

func upstreamSlowPath() panel {
	return timeSeries{
		header: header{id: 41, title: "Renewals by the slow path", unit: "short",
			about: "Renewals that had to read the lock first, because updating it had failed. Normal is none, with coordinated leader election all of them. Otherwise somebody else writes to the lock, or requests to the API server fail."},
		queries: []query{{expr: `sum by (@cluster, @job, name) (increase(leader_election_slowpath_total{@target}[$__rate_interval]))`, legend: legendQueue}},
		stacked: true,
	}
}
