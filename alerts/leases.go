package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var clusterLeaseExpired = Alert{
	Name:      "ClusterLeaseExpired",
	Objective: catalog.LeaseUnheld,
	gauge:     true,
	board:     leaderBoard,
	labels:    ofLease,
	// A Lease that no exporter has seen being renewed was left behind long ago; every cluster has some. With several
	// exporters all must agree: one that has just been started does not know yet.
	expr: `
min by (@cluster, lease_namespace, lease) (k8s_lease_expired{@}) > $threshold
and
max by (@cluster, lease_namespace, lease) (max_over_time(k8s_lease_renewed_timestamp_seconds{@}[$window])) > 0
`,
	summary: "Nobody holds the " + thisLease + ".",
	description: "The " + thisLease + " has expired or was given up, and nobody has taken it for more than $for. " +
		"What its holder does is not done.",
	Runbook: Runbook{
		Meaning: "A Lease that was renewed within the last $window has not changed for its duration, or its holder has given it up, and that for longer than $for. The exporter judges by its own clock when it saw the last change, as client-go's leader election does: clocks that differ do not matter. Leases of nodes and of API servers are not meant here.",
		Impact:  "The program that this Lease is for has no leader: its replicas wait, or there are none. Nothing is reconciled.",
		Diagnosis: []Step{
			{"Who held it last? No result: it was given up in good order, so look at what has stopped or scaled down the program.", `k8s_lease_holder_info{@}`},
			{"Since when has nobody renewed it?", `time() - max by (@cluster, lease_namespace, lease) (k8s_lease_renewed_timestamp_seconds{@} > 0)`},
			{"Have many Leases expired at once? Then it is the API server, or etcd.", `max by (@cluster, purpose, state) (k8s_lease_objects{@})`},
			{"Do the candidates run, and what do they log?  `kubectl -n NAMESPACE get pods`; the identity of a holder usually begins with the name of its Pod.", ""},
			{"May they write it?  `kubectl auth can-i update leases -n NAMESPACE --as=system:serviceaccount:NAMESPACE:NAME`", ""},
		},
		Mitigation: []string{
			"API server unreachable or slow: that comes first; leaders come back by themselves.",
			"The program is gone for good: delete the Lease.",
			"It is scaled to nothing on purpose: silence the alert for this Lease until it is back.",
			"Candidates run and none takes it: permissions (`get`, `create` and `update` on Leases), a network policy, or a process that hangs: restart it.",
		},
	},
}

var clusterLeaseChanges = Alert{
	Name:      "ClusterLeaseChanges",
	Objective: catalog.LeaseChanges,
	board:     leaderBoard,
	labels:    ofLease,
	expr:      `max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@}[$window])) >= $threshold`,
	summary:   "The holder of the " + thisLease + " changes too often.",
	description: "The " + thisLease + ` has changed hands {{ $value | printf "%.0f" }} times in $window; ` +
		"the objective is fewer than $objective.",
	Runbook: Runbook{
		Meaning: "The counter of changes in the Lease itself has risen by $objective or more in $window. A roll-out makes at most as many changes as there are replicas. This works for any program, with the library or without.",
		Impact:  "Each change is a pause of up to the Lease's duration, followed by a full start: caches, and a reconcile of everything.",
		Diagnosis: []Step{
			{"Who has held it in turn? One identity after the other of new Pods: restarts. The same few again and again: renewals that come too late.", `max by (@cluster, lease_namespace, lease, holder) (k8s_lease_holder_info{@})`},
			{"Do other Leases change as well? Then it is the API server or etcd.", `topk(10, max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@}[15m])))`},
			{"How long are they valid? Less than 15 s is short.", `max by (@cluster, lease_namespace, lease) (k8s_lease_duration_seconds{@})`},
			{"If the program uses the library: what do its renewals meet?", `sum by (@cluster, name, lock, result) (increase(controller_leader_renew_duration_seconds_count{@}[15m]))`},
		},
		Mitigation: []string{
			"Restarts: look at why the processes end (probes, memory, panics).",
			"Slow API server or etcd: see their own alerts. Longer times (`LeaseDuration`, `RenewDeadline`, `RetryPeriod`) bear more, and a failover takes longer.",
			"A process short of CPU cannot renew: look at its throttling and raise its limit.",
		},
	},
}
