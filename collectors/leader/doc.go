// Package leader observes client-go's leader election: whether this process is the leader, how leadership began and ended, and how
// long renewals take.
//
//	config.Lock = leader.NewLock(obs, config.Lock, leader.Options{})
//
// The metrics are derived from the calls that pass through the lock, so they show the election as this candidate sees it.
package leader
