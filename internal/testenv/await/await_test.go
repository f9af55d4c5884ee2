package await_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// recorder is a test that records how it fails.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure runs f like a test and returns how it fails.
func failure(t *testing.T, f func(testing.TB)) string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.failure
}

func TestSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ready := func() bool { return time.Since(begin) >= time.Minute }
		await.True(t, "a minute has passed", ready)
		if late := time.Since(begin) - time.Minute; late > 200*time.Millisecond {
			t.Errorf("noticed %v late", late)
		}
		checks := 0
		await.NoError(t, "the third check", func() error {
			if checks++; checks < 3 {
				return errors.New("not yet")
			}
			return nil
		})
		if checks != 3 {
			t.Errorf("%d checks", checks)
		}
	})
}

func TestTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		wait func(testing.TB)
		want string
	}{
		"condition": {
			wait: func(t testing.TB) { await.True(t, "synced", func() bool { return false }) },
			want: "synced: not within 2m0s: condition is false",
		},
		"state": {
			wait: func(t testing.TB) {
				await.True(t, "synced", func() bool { return false }, func() string { return "3 objects" })
			},
			want: "synced: not within 2m0s: condition is false:\n3 objects",
		},
		"last error": {
			wait: func(t testing.TB) {
				n := 0
				await.Within(t, time.Second, "synced", func(context.Context) error { n++; return fmt.Errorf("check %d", min(n, 5)) })
			},
			want: "synced: not within 1s: check 5",
		},
		"error before the end of the context": {
			wait: func(t testing.TB) {
				first := true
				await.Within(t, time.Second, "synced", func(ctx context.Context) error {
					if first {
						first = false
						return errors.New("refused")
					}
					<-ctx.Done()
					return ctx.Err()
				})
			},
			want: "synced: not within 1s: refused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := failure(t, c.wait); got != c.want {
					t.Errorf("the test fails with %q, want %q", got, c.want)
				}
			})
		})
	}
}
