package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

const legendLease = "{{@cluster}} {{lease_namespace}}/{{lease}}"

func everyLease(t catalog.Targets) panel {
	changes := t.Of(catalog.LeaseChanges)
	return grid{
		header: header{id: 50, title: "Every Lease", unit: "short",
			about: "One row for each Lease that is meant for leaders. A holder, a renewal seconds ago and no changes in 15 minutes are normal. One without a last renewal has not been renewed since the exporter started: it was left behind by a program that is gone, and may be deleted. Red cells miss an objective."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "lease_namespace", title: "Namespace"}, {label: "lease", title: "Lease"}, {label: "holder", title: "Holder"},
		},
		columns: []column{
			{title: "Expired", bad: true, red: 1, words: yesNo, query: `min by (@cluster, lease_namespace, lease) (k8s_lease_expired{@lease})`},
			{title: "Last renewal", unit: "dateTimeFromNow", query: `1000 * max by (@cluster, lease_namespace, lease) (k8s_lease_renewed_timestamp_seconds{@lease} > 0)`},
			{title: "Valid for", unit: "s", query: `max by (@cluster, lease_namespace, lease) (k8s_lease_duration_seconds{@lease})`},
			{title: "Changes", bad: true, red: changes.Threshold, query: `max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@lease}[@lease_changes]))`},
			{hidden: true, query: `max by (@cluster, lease_namespace, lease, holder) (k8s_lease_holder_info{@lease})`},
		},
		sortBy: "Expired",
	}
}

func leasesByState() panel {
	return timeSeries{
		header: header{id: 51, title: "Leases by purpose", unit: "short",
			about: "All Leases of the cluster by what they are for, and whether somebody holds them. Normal is one that is held for each node, each API server and each program with a leader. Expired ones of nodes are nodes that are gone or cut off; some of leaders are usually left behind by programs that were removed. The variables for Leases do not apply."},
		queries: []query{{expr: `max by (@cluster, purpose, state) (k8s_lease_objects{@target})`, legend: "{{@cluster}} {{purpose}} {{state}}"}},
	}
}

func sinceLeaseRenewal() panel {
	return timeSeries{
		header: header{id: 52, title: "Time since the last renewal of Leases", unit: "s",
			about: "Since the exporter saw the Lease being renewed, by its own clock. Less than the Lease's duration is normal, 15 s in most cases. A rise of a second a second is a Lease that nobody holds."},
		queries: []query{{expr: `time() - max by (@cluster, lease_namespace, lease) (k8s_lease_renewed_timestamp_seconds{@lease} > 0)`, legend: legendLease}},
	}
}

func leaseChanges(t catalog.Targets) panel {
	o := t.Of(catalog.LeaseChanges)
	return timeSeries{
		header: header{id: 53, title: "Changes of holders in 15 minutes", unit: "short",
			about: "Times that the Lease has changed hands in the quarter of an hour before, as it counts itself. Normal is 0, and one or two in a roll-out."},
		queries: []query{{expr: `max by (@cluster, lease_namespace, lease) (increase(k8s_lease_transitions_total{@lease}[@lease_changes]))`, legend: legendLease}},
		goal:    &o,
	}
}
