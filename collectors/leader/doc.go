// Package leader decorates what takes part in client-go's leader election. It reports whether this process leads, how
// leadership began and ended, and how long renewals take.
//
//	config.Lock = leader.NewLock(obs, config.Lock, leader.Options{})
//
// Everything is read from the requests that pass the lock, so that it is exact as far as the candidate itself can know:
//
//	what is reported                        taken from
//	leading, last renewal                   Create and Update
//	acquired, lost, released                Create, Update, Get, and RecordEvent when the elector stops
//	renewal duration, slow renewals         Update by the holder
//	leader_election_* of client-go          leaderelection.SetProvider
//
// Files:
//
//	lock.go       NewLock, the decorator of a resourcelock.Interface
//	series.go     the series of all locks with the same name
//	upstream.go   NewMetricsProvider, client-go's own metrics
//	values.go     values of labels with a closed set
package leader
