package e2e_test

import (
	"context"
	"testing"
	"time"
)

// patience is for what takes seconds on an idle machine.
const patience = 2 * time.Minute

// await calls check until it returns nil, and fails the test with its last error when the time is over.
func await(t *testing.T, what string, patience time.Duration, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil || last == nil { // what is cut off by the end says less
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v after %v: %v", what, context.Cause(ctx), patience, last)
		case <-time.After(250 * time.Millisecond):
		}
	}
}
