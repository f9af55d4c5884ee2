package schedule

import "context"

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
