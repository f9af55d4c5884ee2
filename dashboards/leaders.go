package dashboards

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// electionLabels identify an election. Only elections of programs without the library have lock_namespace; see prom.Series.Expand.
const electionLabels = "@cluster, name, lock_namespace, lock"

var noLeader = singleStat{header: header{id: 1, title: "No leader", unit: "short",
	description: "Locks that have no leader, as reported by the candidates. Normally 0, except for seconds during a handover. Nothing is reconciled meanwhile: see the renewals, and check that the candidates reach the API server."},
	red: 1, query: `sum(max by (` + electionLabels + `) (controller_leader{@lock}) == bool 0)`,
}

var splitBrain = singleStat{header: header{id: 2, title: "Split brain", unit: "short",
	description: "Leaders in excess of one per lock. Normally 0; may be 1 after a handover until both processes are scraped. If it lasts, two locks share a name: set a unique one in the options of leader.NewLock."},
	red: 1, query: `sum(clamp_min(sum by (` + electionLabels + `) (controller_leader{@lock}) - 1, 0))`,
}

var worstTransitions = singleStat{header: header{id: 3, title: "Leader transitions in 15 min", unit: "short",
	description: "Leader transitions in the last 15 minutes, for the lock with the most. Normally 0, one or two during a rollout."},
	query: `max(` + sumOf(`controller_leader_transitions_total{@lock, event="acquired"}`, `@leader_changes`, electionLabels) + `)`,
	goal:  &catalog.Objectives.LeaderChanges,
}

var worstSlowRenewals = singleStat{header: header{id: 4, title: "Slow renewals in 15 min", unit: "short",
	description: "Renewals that took longer than the retry period in the last 15 minutes, for the worst process. Normally 0. Without a successful renewal for 10 s (client-go's default), leadership is lost."},
	query: `max(` + prom.Occurred(`controller_leader_slow_renewals_total{@lock}`, `@leader_slow_renewals`) + `)`,
	goal:  &catalog.Objectives.SlowRenewals,
}

func oldestRenewal(t catalog.Targets) panel {
	o := t.Of(catalog.Objectives.LeaderMissing)
	return singleStat{header: header{id: 5, title: "Oldest renewal", unit: age,
		description: "Time since the last renewal, for the lock with the oldest one. Normally a few seconds plus the scrape interval. Red once the alert for a missing leader is due."},
		query: `max(time() - max by (@cluster, name, lock) (controller_leader_last_renew_timestamp_seconds{@lock} > 0))`,
		red:   o.For.Seconds(),
	}
}

var meanRenewal = singleStat{header: header{id: 6, title: "Mean renewal duration", unit: "s",
	description: "Mean duration of lock renewals, for the slowest lock. Normally milliseconds. Above 2 s, client-go's default retry period, a renewal is slow. idle: no renewals."},
	idle: "idle", query: `max(sum by (@cluster, name, lock) (rate(controller_leader_renew_duration_seconds_sum{@lock}[$__rate_interval])) / sum by (@cluster, name, lock) (rate(controller_leader_renew_duration_seconds_count{@lock}[$__rate_interval])))`,
}

var candidateTable = labelTable{header: header{id: 7, title: "Candidates by leadership", unit: "short",
	description: "One row per process and lock. Normally one leader per lock, with a renewal seconds ago. Red cells miss an objective."},
	labels: []column{{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"}, {label: "lock", title: "Lock", link: &link{uid: LeaderElectionUID, title: "Only this lock", sets: []string{"cluster", "lock"}}}, {label: "instance", title: "Instance"}},
	columns: []column{
		{title: "Leader", names: yesNo, query: `max by (@cluster, name, lock, @instance) (controller_leader{@lock})`},
		{title: "Last renewal", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, name, lock, @instance) (controller_leader_last_renew_timestamp_seconds{@lock} > 0)`},
		{title: "Acquired", query: sumOf(`controller_leader_transitions_total{@lock, event="acquired"}`, `@leader_changes`, `@cluster, name, lock, @instance`)},
		{title: "Slow renewals", goal: &catalog.Objectives.SlowRenewals, query: sumOf(`controller_leader_slow_renewals_total{@lock}`, `@leader_slow_renewals`, `@cluster, name, lock, @instance`)},
	},
	sortBy: []string{"Leader"},
}

var leaders = timeline{header: header{id: 20, title: "Leaders", unit: "short",
	description: "When each process was the leader. Normally one green band per lock, while the other processes stand by. All bands gray: no leader. No bands: no scrapes."},
	query: query{expr: `max by (` + electionLabels + `, @instance) (controller_leader{@lock})`, legend: legendElection + " {{@instance}}"},
	no:    "standby", yes: "leader", noColor: gray,
}

var leaderTransitions = timeSeries{header: header{id: 21, title: "Leader transitions in 15 minutes", unit: "short",
	description: "Leader transitions over the previous 15 minutes. Normally 0, one or two during a rollout. More indicate leaders that cannot renew their lock in time: see the renewals. Each transition costs initial syncs and a reconcile of all objects."},
	queries: []query{{expr: sumOf(`controller_leader_transitions_total{@lock, event="acquired"}`, `@leader_changes`, electionLabels), legend: legendElection}},
	goal:    &catalog.Objectives.LeaderChanges,
}

var leaderEvents = timeSeries{header: header{id: 22, title: "Leadership events", unit: "short",
	description: "Normally none; one released and one acquired during a rollout. lost: the lock was not renewed in time, or another process took it. acquired without released: a leader died, and the candidates waited until its lease expired."},
	stacked: true, queries: []query{{expr: occurrences(`controller_leader_transitions_total{@lock}`, electionLabels+`, event`), legend: legendElection + " {{event}}"}},
}

var upstreamSlowPath = timeSeries{header: header{id: 41, title: "Slow path renewals", unit: "short",
	description: "Renewals that had to read the lock first, because the update failed. Normally none; all renewals with coordinated leader election. Otherwise another process writes to the lock, or API server requests fail."},
	stacked: true, queries: []query{{expr: occurrences(`leader_election_slowpath_total{@target}`, `@cluster, @job, name`), legend: legendQueue}},
}
