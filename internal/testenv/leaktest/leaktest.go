// Package leaktest finds goroutines that a test has left behind.
package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// None waits until only the goroutines that the options ignore are left. After await.Timeout it marks the test as failed.
// Use it instead of goleak.VerifyNone, which waits for half a second: on a busy machine, goroutines may need longer to end.
func None(t testing.TB, options ...goleak.Option) {
	t.Helper()
	if err := Find(options...); err != nil {
		t.Error(err)
	}
}

// Find is like None, but for a TestMain: it returns an error that names the goroutines that are left.
func Find(options ...goleak.Option) error {
	for deadline := time.Now().Add(await.Timeout); ; {
		if err := goleak.Find(options...); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
