package schedule

import (
	"context"
	"fmt"
)

// Call calls f on its own goroutine and returns its result, or an error if ctx ends first or f panics: a client that
// ignores contexts must not keep an informer from ending. A late result is passed to discard, which may be
// nil.
func Call[T any](ctx context.Context, f func() (T, error), discard func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result)
	go func() {
		var r result
		returned := false
		defer func() {
			if !returned {
				r = result{err: fmt.Errorf("panic: %v", recover())}
			}
			select {
			case results <- r:
			case <-ctx.Done():
				if discard != nil && r.err == nil {
					discard(r.value)
				}
			}
		}()
		r.value, r.err = f()
		returned = true
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
