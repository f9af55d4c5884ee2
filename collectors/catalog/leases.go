package catalog

// Leases of the cluster, as the exporter sees them, regardless of whether their holders use the library.
var (
	LeaseExpired = gauge(familyLeases, Metric{
		Name:   "k8s_lease_expired",
		Help:   "Whether the Lease has expired or was released by its holder (1), or is held (0).",
		Notes:  "Expired: unchanged for its duration, by the exporter's clock. Absent for Leases without a duration.",
		Labels: lease(),
	})
	LeaseHolderInfo = gauge(familyLeases, Metric{
		Name:   "k8s_lease_holder_info",
		Help:   "Holder of the Lease in the label holder, always 1.",
		Notes:  "The last holder of an expired Lease; absent if it was released. `other` while the namespace has more new holders than its limit; see `k8s_object_overflow_total`.",
		Labels: lease(labelHolder),
	})
	LeaseRenewedTimestamp = gauge(familyLeases, Metric{
		Name:   "k8s_lease_renewed_timestamp_seconds",
		Help:   "Unix timestamp in seconds of the last renewal or takeover of the Lease that the exporter saw.",
		Notes:  "By the exporter's clock. 0 if it has seen none.",
		Labels: lease(),
	})
	LeaseDuration = gauge(familyLeases, Metric{
		Name:   "k8s_lease_duration_seconds",
		Help:   "Duration in seconds for which the Lease is valid after a renewal, as set by its holder.",
		Labels: lease(),
	})
	LeaseTransitions = counter(familyLeases, Metric{
		Name:   "k8s_lease_transitions_total",
		Help:   "Number of transitions of the Lease between holders, as recorded in the Lease.",
		Notes:  "Restarts at 0 when the Lease is deleted and created again.",
		Labels: lease(),
	})
	LeaseObjects = gauge(familyLeases, Metric{
		Name:   "k8s_lease_objects",
		Help:   "Number of Leases, by purpose and state.",
		Notes:  "Leases of nodes and API servers, and Leases beyond the series limit, appear only here.",
		Labels: []Label{labelPurpose, labelLeaseState},
	})
)

// lease returns the labels of a Lease's metric, followed by more.
func lease(more ...Label) []Label {
	return append([]Label{labelLeaseNamespace, labelLease}, more...)
}

// Labels of Leases. Apart from Namespaces, Leases are the only objects with their names in labels.
var (
	labelLeaseNamespace = Label{Name: "lease_namespace", Help: "namespace of the Lease"}
	labelLease          = Label{Name: "lease", Help: "name of the Lease; the number of Leases with series is limited"}
	labelHolder         = Label{Name: "holder", Help: "identity of the holder, truncated to 253 bytes"}
	labelPurpose        = closed("purpose", "purpose of the Lease", "leader", "node", "apiserver")
	labelLeaseState     = closed("state", "whether the Lease is held or has expired", "held", "expired")
)
