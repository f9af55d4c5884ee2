package leader

// Values of the label event of controller_leader_transitions_total.
const (
	leaderAcquired = "acquired"
	// leaderLost is leadership that ended without a release.
	leaderLost = "lost"
	// leaderReleased is leadership that the process gave up, so that another process can lead immediately.
	leaderReleased = "released"
)

// Values of the label result of controller_leader_renew_duration_seconds.
const (
	renewSuccess = "success"
	// renewConflict is a renewal that fails because another client has written the lock in the meantime.
	renewConflict = "conflict"
	renewError    = "error"
)
