package schedule

import (
	"context"
	"math/rand/v2"
	"time"
)

// maxFirstWait is the longest wait before the first call.
const maxFirstWait = 30 * time.Second

// Every calls f repeatedly until ctx ends. The first call is made after a random time of at most the interval and at most 30
// seconds. f returns the time until the next call, 0 for the interval; the time is varied by up to a tenth.
func Every(ctx context.Context, interval time.Duration, f func() time.Duration) {
	wait := time.Duration(rand.Int64N(int64(min(interval, maxFirstWait)) + 1))
	for Sleep(ctx, wait) {
		next := f()
		if next == 0 {
			next = interval
		}
		wait = Jitter(next)
	}
}

// Jitter returns d, varied by up to a tenth.
func Jitter(d time.Duration) time.Duration {
	return d - d/10 + time.Duration(rand.Int64N(int64(d/5)+1))
}

// Sleep waits, and reports false if ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
