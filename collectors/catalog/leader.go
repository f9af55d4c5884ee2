package catalog

// Leader election as the candidate sees it, in addition to client-go's own leader_election_* metrics (upstream.go).
var (
	ControllerLeader = gauge(familyLeader, Metric{
		Name:      "controller_leader",
		Help:      "Whether this process holds the lock (1) or not (0), as far as it knows.",
		Labels:    lock(),
		Essential: true,
	})
	ControllerLeaderTransitions = counter(familyLeader, Metric{
		Name:      "controller_leader_transitions_total",
		Help:      "Number of leader transitions of this process, by event.",
		Notes:     "A lock is lost if it could not be renewed or another process took it.",
		Labels:    lock(labelLeaderEvent),
		AtZero:    labelLeaderEvent.Values,
		Essential: true,
	})
	ControllerLeaderRenewDuration = summary(familyLeader, Metric{
		Name:   "controller_leader_renew_duration_seconds",
		Help:   "Duration of requests to renew the lock in seconds, by result.",
		Labels: lock(labelRenewResult),
	})
	ControllerLeaderSlowRenewals = counter(familyLeader, Metric{
		Name:      "controller_leader_slow_renewals_total",
		Help:      "Number of requests to renew the lock that took longer than the retry period.",
		Labels:    lock(),
		Essential: true,
	})
	ControllerLeaderLastRenew = gauge(familyLeader, Metric{
		Name:   "controller_leader_last_renew_timestamp_seconds",
		Help:   "Unix timestamp in seconds of the last acquisition or renewal of the lock by this process, 0 if none.",
		Labels: lock(),
	})
)
