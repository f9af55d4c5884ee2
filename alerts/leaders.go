package alerts

import (
	"fmt"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// upstreamElections are the elections of programs without the library, in client-go's metric. The metric has the name of a Lease
// but not its namespace: the same program in two namespaces has two elections with one name.
const upstreamElections = `
label_join(max without (name) (label_join(max without (lock) (
  leader_election_master_status{@} unless on (@cluster, @job, @instance) controller_leader{@, name!=""}
), "lock", "", "name")), "name", "", "@job")
`

// lostLeaders returns the elections with a leader that may live without being seen, from the series of candidates and the form in which they
// have the label lock: a leader with a target that is down for Prometheus, for an hour, or vanished within five minutes; and targets that were
// never up, for an hour, in a job that has nothing but candidates. Pods that end normally lose their lock first, or their successor leads
// before the alert fires.
func lostLeaders(series, form string) string {
	return fmt.Sprintf(form, `last_over_time(`+series+`[1h]) == 1 and on (@cluster, @job, @instance) up{@process} == 0 or `+
		`last_over_time(`+series+`[5m]) == 1 unless `+series+` or `+
		series+` and on (@cluster, @namespace, @job) (up{@process} == 0 unless up{@process} offset 1h unless on (@cluster, @job, @instance) last_over_time(`+series+`[1h]))`+
		` unless on (@cluster, @namespace, @job) (up{@process} == 1 unless on (@cluster, @job, @instance) `+series+`)`)
}

// upstreamLeaderMissing finds elections of programs without the library that have no leader. If the exporter sees the Lease of an
// election held, the election has a leader that is not scraped. The Lease is looked up by name in the namespace of the program.
// All namespaces are searched if the target has no namespace, or if no namespace with such a program has a Lease of that name,
// as for components with Leases in kube-system. An election with an expired Lease that pages by itself is excluded.
func upstreamLeaderMissing() string {
	elections := strings.ReplaceAll(strings.TrimSpace(upstreamElections), "\n", "\n    ")
	known := "(\n    " + recordExpired + " == 0\n  or\n    " + strings.ReplaceAll(strings.TrimSpace(leaseExpired(true)), "\n", "\n    ") + "\n  )"
	return `
label_join(
  max by (@cluster, @namespace, name, lock) (
    ` + elections + `
  ) == 0
  unless on (@cluster, @namespace, lock)
  (
    ` + elections + ` == 1
  or
    (` + lostLeaders("leader_election_master_status{@}", `label_join(max without (lock) (%s), "lock", "", "name")`) + `)
    unless on (@cluster, @namespace, lock)
    label_join(label_join(` + recordExpired + ` == 1, "@namespace", "", "lease_namespace"), "lock", "", "lease")
  ),
  "lease", "", "lock"
)
unless on (@cluster, @namespace, lease)
(
  label_join(` + known + `, "@namespace", "", "lease_namespace")
or
  max by (@cluster, lease) ` + known + `
)
unless on (@cluster, lease)
(
  max by (@cluster, lease) ` + known + `
  unless on (@cluster, lease)
  (
    label_join(` + recordExpired + `, "@namespace", "", "lease_namespace")
    and on (@cluster, @namespace, lease)
    label_join(` + elections + `, "lease", "", "lock")
  )
)
`
}

var controllerLeaderMissing = Alert{
	Name:          "ControllerLeaderMissing",
	Objective:     catalog.Objectives.LeaderMissing,
	Reason:        "the controller does nothing at all, although its replicas are ready",
	gauge:         true,
	board:         leaderBoard,
	labels:        []string{"cluster", "lock"},
	namespaceFrom: "lock",
	// By lock, not by process or job: all candidates share one leader, even if each has a job of its own. Exporters need a leader only
	// for audits and have their own alert.
	// Elections of programs without the library are found by their Leases or by client-go's metric, each of them once. A Lease that
	// is held has a leader, even if the leader's scrapes fail while scrapes of the other candidates succeed.
	record: leaseRecords,
	expr: `
max by (@cluster, name, lock) (controller_leader{@, name!~"` + exporterNames + `"}) == 0
unless on (@cluster, lock)
label_join(` + recordExpired + ` == 0, "lock", "/", "lease_namespace", "lease")
unless on (@cluster, lock)
(
  (` + lostLeaders(`controller_leader{@, name!=""}`, "%s") + `)
  unless on (@cluster, lock)
  label_join(` + recordExpired + ` == 1, "lock", "/", "lease_namespace", "lease")
)
or on (@cluster, lock)
(` + leaseAbandoned() + `)
or
` + strings.TrimSpace(upstreamLeaderMissing()),
	summary: "No leader for " + thisLock + ".",
	description: "There has been no leader for " + thisLock + " for more than $for. " +
		"Leader-only work has stopped.",
	Runbook: Runbook{
		Meaning: "The lock has had no leader for longer than $for. With client-go's defaults, a leader that dies is replaced within 25 s.\n\nLeases in `$leaseNamespaces` (`leaseNamespaces` of the generator's configuration) count even if their candidates do not use the library, after five minutes; in `kube-system`, only the control plane's Leases. For other elections without the library, client-go's `leader_election_master_status` decides. If the exporter watches the Lease of the lock, the Lease decides while the exporter is connected. Otherwise, a leader counts for an hour after its scrapes began to fail, and for 5 minutes after it vanished.",
		Impact:  "No object is reconciled. The replicas run, are ready, and wait.",
		Commands: []Step{
			{"See the holder, its last renewal and the namespace, if the alert has none. With a current `renewTime`, the holder is not scraped, and this is a false alarm.", `kubectl get leases -A --field-selector "metadata.name=${LOCK#*/}" -o yaml`},
			listPods.because("List the candidates. If there are none, find out what stopped or scaled them down."),
			replicaLog("lease|leader|lock"),
		},
		Queries: []Step{
			{"Attempts of the candidates. `conflict`: another process writes the lock. `error`: the API server does not respond, or rejects the request.", `sum by (@pod, result) (increase(controller_leader_renew_duration_seconds_count{@, ` + inThisCluster + `, lock="$LOCK"}[15m]))`},
			{"Failed scrapes in this namespace. One of these processes may be the leader.", `up{@, ` + inThisCluster + `, @namespace="$NAMESPACE"} == 0`},
		},
		Causes: []string{
			"API server unreachable or slow: fix that first. Leaders recover without action.",
			"No permission: grant `get`, `create` and `update` on Leases in this namespace.",
			"Candidates hang: restart them, `kubectl -n \"$NAMESPACE\" rollout restart \"$WORKLOAD\"`.",
			"The Lease was edited by hand, for example to a long `leaseDurationSeconds`: delete it, `kubectl -n \"$NAMESPACE\" delete lease \"${LOCK#*/}\"`. The candidates create it again.",
			"Two installations share a lock: give each its own.",
		},
		Resolves: "when a candidate acquires the lock: the Lease has a `holderIdentity`, and `max(controller_leader{lock=\"$LOCK\"})` is 1.",
		Escalate: controllerTeam + "; for `kube-system`, " + apiServerTeam,
	},
}

const recordTransitions = "lock:controller_leader_transitions:increase"

// leaderTransitions counts acquisitions. The counter of a process that crashes and becomes the leader again before its next scrape
// stays at 1, and a new Pod has a new counter. The Lease's own counter includes these transitions. Every second change of client-go's
// gauge is an acquisition; if the gauge ends at 1, the last change is one.
var leaderTransitions = `
max by (@cluster, @namespace, name, lock) (
  sum by (@cluster, name, lock) (` + occurred(`controller_leader_transitions_total{@, name!="", event="acquired"}`) + `)
or
  sum by (@cluster, @namespace, name, lock) (
    label_join(sum without (name) (label_join(sum without (lock) (
      floor((changes(leader_election_master_status{@}[$window]) + last_over_time(leader_election_master_status{@}[$window])) / 2)
      unless on (@cluster, @job, @instance)
      last_over_time(controller_leader_transitions_total{@, name!="", event="acquired"}[$window])
    ), "lock", "", "name")), "name", "", "@job")
  )
or
  group by (@cluster, name, lock) (last_over_time(controller_leader{@}[$window]))
  * on (@cluster, lock) group_left (lease)
  label_join(max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@}[$window])), "lock", "/", "lease_namespace", "lease")
)
`

// newCandidates counts the targets of a lock with a process that started in the window.
const newCandidates = `
  count by (@cluster, name, lock) (
    last_over_time(controller_leader{@, name!=""}[$window])
    and on (@cluster, @job, @instance)
    last_over_time(process_start_time_seconds{@process}[$window]) > time() - $seconds
  )
  or
  count by (@cluster, @namespace, name, lock) (
    label_join(sum without (name) (label_join(sum without (lock) (
      last_over_time(leader_election_master_status{@}[$window])
    ), "lock", "", "name")), "name", "", "@job")
    and on (@cluster, @job, @instance)
    last_over_time(process_start_time_seconds{@process}[$window]) > time() - $seconds
  )
`

var controllerLeaderChanges = Alert{
	Name:          "ControllerLeaderChanges",
	Objective:     catalog.Objectives.LeaderChanges,
	Reason:        "the lock has a leader most of the time; without one, ControllerLeaderMissing pages",
	board:         leaderBoard,
	labels:        []string{"cluster", "lock"},
	namespaceFrom: "lock",
	record: func(o catalog.Objective, c Config) []Rule {
		return []Rule{c.recording(o, recordTransitions, leaderTransitions)}
	},
	// A rollout moves the lock at most once per process that it starts, so that only one of many replicas reaches the threshold.
	expr: recordTransitions + `
and on (@cluster, @namespace, name, lock)
` + recordTransitions + ` - on (@cluster, @namespace, name, lock) (
  (` + newCandidates + `) >= $threshold
or on (@cluster, @namespace, name, lock)
  0 * ` + recordTransitions + `
) >= $threshold
`,
	summary: "Frequent leader transitions for " + thisLock + ".",
	description: `{{ $value | printf "%.0f" }} leader transitions for ` + thisLock + " in $window; " +
		"the objective is fewer than $objective.",
	Runbook: Runbook{
		Meaning: "Processes became the leader $objective times or more in $window, over all candidates. A rollout causes up to one transition per replica: if at least $objective processes started in $window, one transition for each of them does not count. Transitions before the first scrape of a process are visible only in the Lease, which the exporter reports.",
		Impact:  "Each transition is a pause of up to 25 s with client-go's defaults, followed by a full start: filling caches and reconciling everything. Two processes may briefly act as the leader.",
		Commands: []Step{
			listPods.because("List the candidates: do they restart?"),
			replicaLog("lease|leader|lock").because("Search the log of a candidate that restarted or lost the lock."),
			{"Search the log from before its restart.", `kubectl -n "$NAMESPACE" logs "$REPLICA" --all-containers --previous --tail=50`},
		},
		Queries: []Step{
			{"Transitions of all locks. `lost`: renewals failed. `released`: the processes shut down gracefully; find out what restarts them.", `sum by (lock, @pod, event) (` + prom.Occurred(`controller_leader_transitions_total{@, `+inThisCluster+`}`, "15m") + `) > 0`},
			{"Mean duration of lease renewals. client-go gives up after 10 s.", `sum by (result) (rate(controller_leader_renew_duration_seconds_sum{@, ` + inThisCluster + `, lock="$LOCK"}[5m])) / sum by (result) (rate(controller_leader_renew_duration_seconds_count{@, ` + inThisCluster + `, lock="$LOCK"}[5m]))`},
		},
		Causes: []string{
			"Restarts: find out why the processes end (probes, memory, panics).",
			"Slow API server or etcd: see their own alerts. Longer intervals (for example `LeaseDuration` 60 s, `RenewDeadline` 40 s, `RetryPeriod` 8 s) tolerate more, but a failover takes longer.",
			"A process short of CPU cannot renew: raise its limit.",
			"Renewals wait for other requests: give leader election its own client.",
		},
		Resolves: "when fewer than $objective transitions happened within $window.",
		Escalate: controllerTeam + ", or " + apiServerTeam + " if several locks have this alert",
	},
}

var controllerLeaderSlowRenewals = Alert{
	Name:      "ControllerLeaderSlowRenewals",
	Objective: catalog.Objectives.SlowRenewals,
	Reason:    "an early warning: the lock is still held",
	board:     leaderBoard,
	// Without instance, so that the linked dashboard shows all candidates of the lock.
	labels:  []string{"cluster", "job", "lock"},
	expr:    `(` + occurred(`controller_leader_slow_renewals_total{@}`) + `) >= $threshold`,
	summary: "Slow lease renewals for " + thisLock + ".",
	description: thisProcess + " renewed " + thisLock + ` too slowly {{ $value | printf "%.0f" }} times in $window; ` +
		"the objective is fewer than $objective. Without a success within 10 s (client-go's default), it loses the lock.",
	Runbook: Runbook{
		Meaning: "Requests to renew the lock took longer than the retry period (client-go's default: 2 s), $objective times or more in $window. After 10 s without a success, the leader gives up the lock.",
		Impact:  "Leader transitions may follow. Until then, nothing is affected.",
		Commands: []Step{
			podLog("lease|leader|lock|throttl"),
			podUsage,
			readyz,
		},
		Queries: []Step{
			{"Mean duration and result of renewals.", `sum by (result) (rate(controller_leader_renew_duration_seconds_sum{@, ` + ofThisProcess + `, lock="$LOCK"}[5m])) / sum by (result) (rate(controller_leader_renew_duration_seconds_count{@, ` + ofThisProcess + `, lock="$LOCK"}[5m]))`},
			{"Other requests. If they are slow as well: the API server, the network or a lack of CPU.", `histogram_quantile(0.99, sum by (@le, verb) (rate(k8s_client_request_duration_seconds@bucket{@, ` + ofThisProcess + `}[5m])))`},
			{"Client-side rate limit. (No result if the program neither sets a `RateLimiter` nor registers `apiclient.NewMetrics`.)", `histogram_quantile(0.99, sum by (@le) (rate(k8s_client_throttle_wait_seconds@bucket{@, ` + ofThisProcess + `}[5m])))`},
		},
		Causes: []string{
			"Slow writes of the API server: check the disk of etcd and admission webhooks that match Leases.",
			"Client-side rate limit: give leader election its own client, or raise `QPS` and `Burst`.",
			"A process short of CPU: raise its limit.",
		},
		Resolves: "when fewer than $objective renewals were slow within $window: the first query is below 2 s.",
		Escalate: apiServerTeam + ", or " + controllerTeam + " if only this program is slow",
	},
}
