// Package leader decorates the locks of client-go's leader election. It reports whether this process is the leader, how
// leadership began and ended, and how long renewals take.
//
//	config.Lock = leader.NewLock(obs, config.Lock, leader.Options{})
//
// All signals except client-go's own metrics are derived from the calls that pass through the lock, as the candidate sees them:
//
//	what is reported                        taken from
//	leading, last renewal                   Create and Update
//	acquired, lost, released                Create, Update, Get, and RecordEvent when the elector stops
//	renewal duration, slow renewals         Update by the holder
//	leader_election_* of client-go          leaderelection.SetProvider
package leader
