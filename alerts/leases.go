package alerts

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// recordRenewed is the time of the last renewal of each Lease. It survives a restart of the exporter, after which the metric is 0.
const recordRenewed = "lease:k8s_lease_renewed_timestamp_seconds:max"

// recordExpired is 1 for each Lease that all exporters report as expired and 0 for others, as far as it is known: what an exporter
// reports without a current view of the Leases is from the past.
const recordExpired = "lease:k8s_lease_expired:min"

// leaseRecords carry the time forward from evaluation to evaluation, which costs the same for any window.
func leaseRecords(o catalog.Objective, c Config) []Rule {
	const renewed = `
max by (@cluster, lease_namespace, lease) (k8s_lease_renewed_timestamp_seconds{@}) > 0
or
max by (@cluster, lease_namespace, lease) (last_over_time(` + recordRenewed + `[1h])) > time() - $seconds
`
	const expired = `
min by (@cluster, lease_namespace, lease) (
  k8s_lease_expired{@}
  unless on (@cluster, @job, @instance)
  (
    k8s_informer_watch_connected{@, informer_type="leases.coordination.k8s.io"} == 0
  or
    k8s_informer_sync_lag_seconds{@, informer_type="leases.coordination.k8s.io"} > ` + leaseDuration + `
  )
)
`
	return []Rule{c.recording(o, recordExpired, expired), c.recording(o, recordRenewed, renewed)}
}

const (
	// leaseDuration is client-go's default in seconds.
	leaseDuration = "15"
	// drained is how long a single replica that moves to another node may be without its Lease, in seconds.
	drained = "180"
	// controlPlane matches the Leases in kube-system that every cluster has. Others may belong to an add-on that was uninstalled: their
	// Lease remains, and does not page.
	controlPlane = `"kube-controller-manager|kube-scheduler|cloud-controller-manager"`
)

// leaseExpired returns the expression for expired Leases, those that page or others. Leases that were not renewed within the window are
// abandoned; every cluster has some. If there are several exporters, all must agree: one that has just started reports no Lease as expired.
// The label lock has the same values as in the library's metrics. The election of the exporters themselves has its own alert,
// InformerExporterLeaderMissing.
func leaseExpired(page bool) string {
	selected := recordExpired + `{lease_namespace=~"$leaseNamespaces"} unless ` + recordExpired + `{lease_namespace="kube-system", lease!~` + controlPlane + `}`
	if !page {
		selected = recordExpired + ` unless (` + selected + `)`
	}
	return `
label_join(
  (` + selected + `) > 0
  and
  max by (@cluster, lease_namespace, lease) (last_over_time(` + recordRenewed + `[1h])) > time() - $seconds,
  "lock", "/", "lease_namespace", "lease"
)
unless on (@cluster, lock)
controller_leader{@, name=~"` + exporterNames + `"}
`
}

// leaseAbandoned returns the expression for expired Leases that page. While nothing but the Lease is known, a single replica may be moving.
func leaseAbandoned() string {
	return strings.TrimSpace(leaseExpired(true)) + `
unless on (@cluster, lease_namespace, lease)
(
  max by (@cluster, lease_namespace, lease) (` + recordRenewed + `) > time() - ` + drained + `
  unless on (@cluster, lease)
  label_join(max by (@cluster, name) (leader_election_master_status{@}), "lease", "", "name")
)`
}

var clusterLeaseExpired = Alert{
	Name:          "ClusterLeaseExpired",
	Objective:     catalog.Objectives.LeaseUnheld,
	Reason:        "often a scale to zero or an abandoned Lease",
	gauge:         true,
	board:         leaderBoard,
	labels:        ofLease,
	namespaceFrom: "lease_namespace",
	record:        leaseRecords,
	expr:          leaseExpired(false),
	summary:       thisLease + " has no holder.",
	description: thisLease + " has expired or was released, and no candidate has acquired it for more than $for. " +
		"The work of its holder has stopped.",
	Runbook: Runbook{
		Unless:  "the cluster depends on this program",
		Meaning: "A Lease that was renewed within the last $window has been expired or released for longer than $for. A Lease expires when it has not changed for its duration. Leases of nodes and API servers are excluded. For Leases in `$leaseNamespaces` (`leaseNamespaces` of the generator's configuration), ControllerLeaderMissing fires instead; in `kube-system`, only for the control plane's Leases.",
		Impact:  "The program of this Lease has no leader: its replicas wait, or none runs. No object is reconciled.",
		Commands: []Step{
			{"See the last holder, usually the name of its Pod, and the last renewal. No holder: it shut down gracefully.", `kubectl -n "$NAMESPACE" get lease "$LEASE" -o yaml`},
			listPods.because("List the candidates. If there are none, find out what stopped or scaled them down."),
			replicaLog("lease|leader|lock"),
		},
		Queries: []Step{
			{"Last holders.", `max by (holder) (k8s_lease_holder_info{@, ` + ofThisLease + `})`},
			{"Expired Leases. If there are many: the API server or etcd.", `max by (lease_namespace, lease) (k8s_lease_expired{@, ` + inThisCluster + `}) == 1`},
		},
		Causes: []string{
			"API server unreachable or slow: fix that first. Leaders recover without action.",
			"Uninstalled: delete the Lease, `kubectl -n \"$NAMESPACE\" delete lease \"$LEASE\"`. Scaled to zero on purpose: silence the alert for this Lease.",
			"Candidates run and none acquires it: permissions (`get`, `create` and `update` on Leases), a network policy, or a stuck process: restart it.",
		},
		Resolves: "when a candidate acquires the Lease: it has a `holderIdentity` and a current `renewTime`. Otherwise $window after the last renewal.",
		Escalate: controllerTeam,
	},
}

var clusterLeaseChanges = Alert{
	Name:          "ClusterLeaseChanges",
	Objective:     catalog.Objectives.LeaseChanges,
	Reason:        "the lock has a leader most of the time; without one, ClusterLeaseExpired fires",
	board:         leaderBoard,
	labels:        ofLease,
	namespaceFrom: "lease_namespace",
	// Elections with candidates that use the library raise ControllerLeaderChanges.
	expr: `
label_join(
  max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@}[$window])) >= $threshold,
  "lock", "/", "lease_namespace", "lease"
)
unless on (@cluster, lock)
last_over_time(controller_leader{@}[$window])
`,
	summary: "Frequent transitions of " + thisLease + ".",
	description: `{{ $value | printf "%.0f" }} transitions of ` + thisLease + " in $window; " +
		"the objective is fewer than $objective.",
	Runbook: Runbook{
		Meaning: "The Lease's own counter of transitions has increased by $objective or more in $window. A rollout causes at most one transition per replica. For programs with the library, ControllerLeaderChanges fires instead.",
		Impact:  "Each transition is a pause of up to the lease duration, followed by a full start: filling caches and reconciling everything.",
		Commands: []Step{
			{"See the holder, the number of transitions and the duration. A duration below 15 s is short.", `kubectl -n "$NAMESPACE" get lease "$LEASE" -o yaml`},
			listPods.because("List the candidates: do they restart?"),
			{"Search the log of a candidate from before its restart.", `kubectl -n "$NAMESPACE" logs "$REPLICA" --all-containers --previous --tail=50`},
		},
		Queries: []Step{
			{"Holders. A new Pod each time: restarts. The same few holders: late renewals.", `max by (holder) (k8s_lease_holder_info{@, ` + ofThisLease + `})`},
			{"Other Leases. If they have transitions as well, the API server or etcd is slow.", `topk(10, max by (lease_namespace, lease) (increase(k8s_lease_transitions_total{@, ` + inThisCluster + `}[15m])))`},
		},
		Causes: []string{
			"Restarts: find out why the processes end (probes, memory, panics).",
			"Slow API server or etcd: see their own alerts. Longer intervals (`LeaseDuration`, `RenewDeadline`, `RetryPeriod`) tolerate more, but a failover takes longer.",
			"A process short of CPU cannot renew: raise its limit.",
		},
		Resolves: "when fewer than $objective transitions happened within $window: `leaseTransitions` of the Lease stays the same.",
		Escalate: controllerTeam + ", or " + apiServerTeam + " if several Leases have this alert",
	},
}
