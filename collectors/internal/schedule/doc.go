// Package schedule decides when background work runs: at intervals with jitter, with limited concurrency, only while it
// is allowed, and never longer than its context.
package schedule
