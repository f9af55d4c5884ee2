package schedule

import (
	"context"
	"sync"
	"time"
)

// Slots limits concurrent work by its capacity.
type Slots chan struct{}

// Do calls f when there is a free slot, unless ctx ends first.
func (s Slots) Do(ctx context.Context, f func()) {
	select {
	case s <- struct{}{}:
		defer func() { <-s }()
		f()
	case <-ctx.Done():
	}
}

// DoWithin calls f when there is a free slot, unless ctx ends first. It releases the slot after the given time, even if f has
// not returned, so that hanging work delays other work no longer than that.
func (s Slots) DoWithin(ctx context.Context, limit time.Duration, f func()) {
	select {
	case s <- struct{}{}:
		release := sync.OnceFunc(func() { <-s })
		timer := time.AfterFunc(limit, release)
		defer func() {
			timer.Stop()
			release()
		}()
		f()
	case <-ctx.Done():
	}
}

// Each calls f for each of n items, as many at a time as the slots allow, and returns the errors in order. After ctx ends, it
// no longer calls f, and returns the error of ctx for the remaining items.
func (s Slots) Each(ctx context.Context, n int, f func(i int) error) []error {
	failed := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			var called bool
			s.Do(ctx, func() { failed[i], called = f(i), true })
			if !called {
				failed[i] = ctx.Err()
			}
		})
	}
	running.Wait()
	return failed
}
