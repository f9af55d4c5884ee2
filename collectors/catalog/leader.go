package catalog

// Leader election as the candidate sees it, besides client-go's own leader_election_* metrics (upstream.go).
var (
	ControllerLeader = gauge(Metric{
		Name:   "controller_leader",
		Help:   "Whether this process holds the lock, as far as it knows: 1 or 0.",
		Family: Leader,
		Labels: lock(),
		Covers: []string{"S10"},
	})
	ControllerLeaderTransitions = counter(Metric{
		Name:   "controller_leader_transitions_total",
		Help:   "Changes of this process's leadership: acquired, released by itself, or lost because it could not renew the lock or another process took it.",
		Family: Leader,
		Labels: lock(LabelLeaderEvent),
		Covers: []string{"S10"},
	})
	ControllerLeaderRenewDuration = histogram(Metric{
		Name:    "controller_leader_renew_duration_seconds",
		Help:    "Seconds that a request to renew the lock took, by result.",
		Family:  Leader,
		Labels:  lock(LabelRenewResult),
		Buckets: requestBuckets,
		Covers:  []string{"S10"},
	})
	ControllerLeaderSlowRenewals = counter(Metric{
		Name:   "controller_leader_slow_renewals_total",
		Help:   "Requests to renew the lock that took longer than the period in which they are retried.",
		Family: Leader,
		Labels: lock(),
		Covers: []string{"S10"},
	})
	ControllerLeaderLastRenew = gauge(Metric{
		Name:   "controller_leader_last_renew_timestamp_seconds",
		Help:   "Unix time at which this process last acquired or renewed the lock, 0 if it never did.",
		Family: Leader,
		Labels: lock(),
		Covers: []string{"S10"},
	})
)
