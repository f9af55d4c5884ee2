// Package await lets tests wait for conditions in other goroutines, processes and servers.
package await

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// Timeout is how long NoError and True wait. It is generous: a test that passes never waits that long, and a machine that
// is busy with other tests may need most of it.
const Timeout = 2 * time.Minute

// The interval between checks grows up to maxInterval.
const (
	minInterval = 2 * time.Millisecond
	maxInterval = 100 * time.Millisecond
)

// NoError calls check until it returns nil. After Timeout it fails the test with the last error, which should describe
// the actual state.
func NoError(t testing.TB, what string, check func() error) {
	t.Helper()
	Within(t, Timeout, what, func(context.Context) error { return check() })
}

// True calls condition until it returns true. After Timeout it fails the test with the state, if one is given.
func True(t testing.TB, what string, condition func() bool, state ...func() string) {
	t.Helper()
	NoError(t, what, func() error {
		if condition() {
			return nil
		}
		if len(state) == 0 {
			return errors.New("condition is false")
		}
		return fmt.Errorf("condition is false:\n%s", state[0]())
	})
}

// Within is like NoError with another timeout, after which the context of the check ends. An error
// caused by the end of the context is not reported, because the error before it is more specific.
func Within(t testing.TB, timeout time.Duration, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout) // t.Context() ends before cleanups run
	defer cancel()
	var last error
	for interval := minInterval; ; interval = min(interval*3/2, maxInterval) {
		err := check(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %v: %v", what, timeout, last)
		case <-time.After(interval):
		}
	}
}
