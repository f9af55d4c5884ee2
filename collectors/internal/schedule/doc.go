// Package schedule decides when background work runs: at intervals with jitter, with limited concurrency, only while it
// is allowed, and never longer than its context.
//
//	every.go   Every, Sleep and Jitter: repeated calls
//	slots.go   Slots: a limit on concurrent work
//	each.go    Each: work on several items
//	gate.go    Gate: work that can be paused
//	call.go    Call: functions that ignore their context
package schedule
