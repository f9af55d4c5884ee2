package alerts

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// recordRenewed is the time of the last renewal of each Lease. It outlives restarts of the exporter, which then reports 0.
const recordRenewed = "lease:k8s_lease_renewed_timestamp_seconds:max"

// leaseRecords carry the time forward from evaluation to evaluation, which costs the same for any window.
func leaseRecords(o catalog.Objective, c Config) []Rule {
	const renewed = `
max by (@cluster, lease_namespace, lease) (k8s_lease_renewed_timestamp_seconds{@}) > 0
or
max by (@cluster, lease_namespace, lease) (last_over_time(` + recordRenewed + `[1h])) > time() - $seconds
`
	return []Rule{{Record: recordRenewed, Expr: strings.TrimSpace(c.fill(o, renewed))}}
}

// leaseExpired returns the expression for expired Leases, in or outside of the namespaces that page. A Lease that was not
// renewed within the window was left behind long ago; every cluster has some. With several exporters all must agree: one that
// has just been started does not know yet. The label lock is that of the library's metrics. The
// election of the exporters themselves has its own alert, InformerExporterLeaderMissing.
func leaseExpired(operator string) string {
	return `
label_join(
  min by (@cluster, lease_namespace, lease) (k8s_lease_expired{@, lease_namespace` + operator + `"$leaseNamespaces"}) > 0
  and
  max by (@cluster, lease_namespace, lease) (last_over_time(` + recordRenewed + `[1h])) > time() - $seconds,
  "lock", "/", "lease_namespace", "lease"
)
unless on (@cluster, lock)
controller_leader{@, name=~"` + exporterNames + `"}
`
}

var clusterLeaseExpired = Alert{
	Name:      "ClusterLeaseExpired",
	Objective: catalog.Objectives.LeaseUnheld,
	gauge:     true,
	board:     leaderBoard,
	labels:    ofLease,
	record:    leaseRecords,
	expr:      leaseExpired("!~"),
	summary:   thisLease + " has no holder.",
	description: thisLease + " has expired or was released, and no candidate has acquired it for more than $for. " +
		"The work of its holder has stopped.",
	Runbook: Runbook{
		Meaning: "A Lease that was renewed within the last $window has not changed for its duration, or its holder released it, for longer than $for. The exporter uses its own clock, as client-go's leader election does: clock differences do not matter. Leases of nodes and API servers are excluded. For Leases in `$leaseNamespaces` (`leaseNamespaces` of the generator's configuration), ControllerLeaderMissing fires instead.",
		Impact:  "The program of this Lease has no leader: its replicas wait, or none runs. No object is reconciled.",
		Diagnosis: []Step{
			{"Find the last holder. No result: the holder released the Lease at its shutdown; find out what stopped or scaled down the program.", `k8s_lease_holder_info{@}`},
			{"Check the time of the last renewal.", `time() - max by (@cluster, lease_namespace, lease) (k8s_lease_renewed_timestamp_seconds{@} > 0)`},
			{"Check whether many Leases expired at once. If so, the cause is the API server or etcd.", `max by (@cluster, purpose, state) (k8s_lease_objects{@})`},
			{"Check the candidates and their logs: `kubectl -n NAMESPACE get pods`. The identity of a holder usually starts with the name of its Pod.", ""},
			{"Check the permission: `kubectl auth can-i update leases -n NAMESPACE --as=system:serviceaccount:NAMESPACE:NAME`", ""},
		},
		Mitigation: []string{
			"API server unreachable or slow: fix that first. Leaders recover without action.",
			"The program was uninstalled: delete the Lease.",
			"It is scaled to zero on purpose: silence the alert for this Lease.",
			"Candidates run and none acquires it: permissions (`get`, `create` and `update` on Leases), a network policy, or a stuck process: restart it.",
		},
	},
}

var clusterLeaseChanges = Alert{
	Name:      "ClusterLeaseChanges",
	Objective: catalog.Objectives.LeaseChanges,
	board:     leaderBoard,
	labels:    ofLease,
	expr:      `max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@}[$window])) >= $threshold`,
	summary:   "Frequent transitions of " + thisLease + ".",
	description: `{{ $value | printf "%.0f" }} transitions of ` + thisLease + " in $window; " +
		"the objective is fewer than $objective.",
	Runbook: Runbook{
		Meaning: "The Lease's own counter of transitions has increased by $objective or more in $window. A rollout causes at most one transition per replica. This works for any program, with or without the library.",
		Impact:  "Each transition is a pause of up to the lease duration, followed by a full start: filling caches and reconciling everything.",
		Diagnosis: []Step{
			{"Find the holders. A new Pod each time indicates restarts; the same few holders indicate late renewals.", `max by (@cluster, lease_namespace, lease, holder) (k8s_lease_holder_info{@})`},
			{"Check other Leases. If they have transitions as well, the cause is the API server or etcd.", `topk(10, max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@}[15m])))`},
			{"Check the lease duration. Less than 15 s is short.", `max by (@cluster, lease_namespace, lease) (k8s_lease_duration_seconds{@})`},
			{"If the program uses the library, check the results of its renewals.", `sum by (@cluster, name, lock, result) (increase(controller_leader_renew_duration_seconds_count{@}[15m]))`},
		},
		Mitigation: []string{
			"Restarts: find out why the processes end (probes, memory, panics).",
			"Slow API server or etcd: see their own alerts. Longer intervals (`LeaseDuration`, `RenewDeadline`, `RetryPeriod`) tolerate more, but a failover takes longer.",
			"A process short of CPU cannot renew: check its throttling and raise its limit.",
		},
	},
}
