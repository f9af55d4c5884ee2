package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// whileWatched omits what an exporter says of Leases while its watch of them is down.
const whileWatched = ` unless on (@cluster, @job, @instance) k8s_informer_watch_connected{@target, informer_type="leases.coordination.k8s.io"} == 0`

var leaseTable = labelTable{header: header{id: 50, title: "Leader election Leases", unit: "short",
	description: "One row per Lease for leader election. Normally held, renewed seconds ago, and without transitions in 15 minutes. No last renewal: not renewed since the exporter started. Such Leases usually belong to removed programs and may be deleted. No state while the exporter's watch of Leases is down. Red cells miss an objective."},
	labels: []column{{label: "cluster", title: "Cluster"}, {label: "lease_namespace", title: "Namespace"}, {label: "lease", title: "Lease", link: &link{uid: LeaderElectionUID, title: "Only this Lease", sets: []string{"cluster", "lease_namespace", "lease"}}}, {label: "holder", title: "Holder"}},
	columns: []column{
		{title: "Expired", red: 1, names: yesNo, query: `min by (@cluster, lease_namespace, lease) (k8s_lease_expired{@lease}` + whileWatched + `)`},
		{title: "Last renewal", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, lease_namespace, lease) (k8s_lease_renewed_timestamp_seconds{@lease} > 0)`},
		{title: "Duration", unit: "s", query: `max by (@cluster, lease_namespace, lease) (k8s_lease_duration_seconds{@lease})`},
		{title: "Transitions", goal: &catalog.Objectives.LeaseChanges, query: `max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@lease}[@lease_changes]))`},
		{hidden: true, query: `max by (@cluster, lease_namespace, lease, holder) (k8s_lease_holder_info{@lease})`},
	},
	sortBy: []string{"Expired", "Transitions"},
}

var leasesByState = timeSeries{header: header{id: 51, title: "Leases by purpose and state", unit: "short",
	description: "All Leases of the cluster, held or expired. Normally one held per node, per API server and per program with leader election. Expired node Leases: the node is missing or disconnected. Expired leader Leases usually belong to removed programs. The Lease variables do not apply."},
	queries: []query{{expr: `max by (@cluster, purpose, state) (k8s_lease_objects{@target}` + whileWatched + `)`, legend: "{{@cluster}} {{purpose}} {{state}}"}},
}

var sinceLeaseRenewal = timeSeries{header: header{id: 52, title: "Time since last Lease renewal", unit: age,
	description: "Time since the exporter last saw a renewal, by its own clock. Normally below the Lease duration, usually 15 s. A rise of one second per second is a Lease without a holder. No data while the exporter's watch of Leases is down."},
	queries: []query{{expr: `time() - max by (@cluster, lease_namespace, lease) (k8s_lease_renewed_timestamp_seconds{@lease} > 0` + whileWatched + `)`, legend: legendLease}},
}

var leaseTransitions = timeSeries{header: header{id: 53, title: "Lease transitions in 15 minutes", unit: "short",
	description: "Increase of the Lease's own transition count over the previous 15 minutes. Normally 0, one or two during a rollout."},
	queries: []query{{expr: `max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@lease}[@lease_changes]))`, legend: legendLease}},
	goal:    &catalog.Objectives.LeaseChanges,
}
