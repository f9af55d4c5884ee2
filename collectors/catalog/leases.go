package catalog

// Leases of the cluster, as the exporter sees them from outside: whoever holds them, with the library or without.
var (
	LeaseExpired = gauge(Metric{
		Name:   "k8s_lease_expired",
		Help:   "Whether nobody holds the Lease: 1 if its holder has given it up, or if it has not changed for its duration by the clock of the exporter, else 0. The holder's clock does not matter. Leases without a duration have no such series.",
		Family: Leases,
		Labels: lease(),
		Covers: []string{"S10"},
	})
	LeaseHolderInfo = gauge(Metric{
		Name:   "k8s_lease_holder_info",
		Help:   "Always 1; the label tells who holds the Lease, or held it last if it has expired. Leases that have been given up have no such series.",
		Family: Leases,
		Labels: lease(LabelHolder),
		Covers: []string{"S10"},
	})
	LeaseRenewedTimestamp = gauge(Metric{
		Name:   "k8s_lease_renewed_timestamp_seconds",
		Help:   "Unix time, by the clock of the exporter, at which it last saw the Lease being renewed or taken over; 0 if it has not seen that since it started or since the Lease was made.",
		Family: Leases,
		Labels: lease(),
		Covers: []string{"S10"},
	})
	LeaseDuration = gauge(Metric{
		Name:   "k8s_lease_duration_seconds",
		Help:   "Seconds that the Lease is valid for after a renewal, as its holder has set them.",
		Family: Leases,
		Labels: lease(),
		Covers: []string{"S10"},
	})
	LeaseTransitions = counter(Metric{
		Name:   "k8s_lease_transitions_total",
		Help:   "Changes of the holder, as the Lease counts them itself. A Lease that is deleted and made again begins at 0.",
		Family: Leases,
		Labels: lease(),
		Covers: []string{"S10"},
	})
	LeaseObjects = gauge(Metric{
		Name:   "k8s_lease_objects",
		Help:   "Leases by what they are for and whether somebody holds them. Leases of nodes and API servers are only counted here, as are those beyond the limit of names.",
		Family: Leases,
		Labels: []Label{LabelPurpose, LabelLeaseState},
		Covers: []string{"S10"},
	})
)

// lease returns the labels of a Lease's metric, followed by more.
func lease(more ...Label) []Label {
	return append([]Label{LabelLeaseNamespace, LabelLease}, more...)
}

// Labels of Leases. This is the only place where the name of an object is the value of a label.
var (
	LabelLeaseNamespace = Label{Name: "lease_namespace", Help: "namespace of the Lease"}
	LabelLease          = Label{Name: "lease", Help: "name of the Lease; the number of Leases with series is limited"}
	LabelHolder         = Label{Name: "holder", Help: "holder of the Lease, by the identity that it has given itself, cut off after 253 bytes"}
	LabelPurpose        = Label{
		Name: "purpose", Help: "what the Lease is for",
		Values: []string{PurposeLeader, PurposeNode, PurposeAPIServer},
	}
	LabelLeaseState = Label{
		Name: "state", Help: "whether somebody holds the Lease",
		Values: []string{LeaseStateHeld, LeaseStateExpired},
	}
)

// Values of LabelPurpose.
const (
	// PurposeLeader is a Lease that leaders hold, or anything else that is none of the others.
	PurposeLeader = "leader"
	// PurposeNode is the heartbeat of a kubelet, in the namespace kube-node-lease.
	PurposeNode = "node"
	// PurposeAPIServer is the identity of an API server.
	PurposeAPIServer = "apiserver"
)

// Values of LabelLeaseState.
const (
	LeaseStateHeld    = "held"
	LeaseStateExpired = "expired"
)
