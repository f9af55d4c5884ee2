package schedule

import (
	"context"
	"sync"
)

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
