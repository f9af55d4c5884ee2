package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

var errTest = errors.New("test")

func dropped(reason string) string {
	return "controller_dropped_total{controller=c,reason=" + reason + "}"
}

// finish shuts a queue down and processes its items until Get reports the shutdown.
func finish(q *queue.Queue[string]) {
	q.ShutDown()
	for item, shutdown := q.Get(); !shutdown; item, shutdown = q.Get() {
		q.Done(item)
	}
}

// TestRetry covers S8: errors are retried with backoff, up to a number of times; terminal errors are not. Dropped items are
// counted by reason and forgotten.
func TestRetry(t *testing.T) {
	const retried = "" // not dropped
	for name, c := range map[string]struct {
		errors     []error
		maxRetries int
		// drops lists what each attempt must return.
		drops []queue.DropReason
		// backoff is the sum of the backoffs in milliseconds.
		retries, backoff float64
	}{
		"success":               {[]error{nil}, 3, []queue.DropReason{retried}, 0, 0},
		"success after a retry": {[]error{errTest, nil}, 3, []queue.DropReason{retried, retried}, 1, 5},
		"three retries": {
			[]error{errTest, errTest, errTest, errTest}, 3,
			[]queue.DropReason{retried, retried, retried, queue.DroppedMaxRetries}, 3, 5 + 10 + 20,
		},
		"no retry": {[]error{errTest}, 0, []queue.DropReason{queue.DroppedMaxRetries}, 0, 0},
		"unlimited retries": {
			[]error{errTest, errTest, errTest, errTest, nil}, -1,
			[]queue.DropReason{retried, retried, retried, retried, retried}, 4, 5 + 10 + 20 + 40,
		},
		"terminal": {[]error{terminal(errTest)}, 3, []queue.DropReason{queue.DroppedTerminal}, 0, 0},
		"terminal, wrapped, after a retry": {
			[]error{errTest, fmt.Errorf("x: %w", terminal(errTest))}, -1, []queue.DropReason{retried, queue.DroppedTerminal}, 1, 5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				q := queue.NewTypedRateLimitingQueue(obs, "c",
					workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second), queue.Options[string]{})
				q.Add("a")
				var drops []queue.DropReason
				for _, err := range c.errors {
					item, _ := q.Get()
					drops = append(drops, retry(q, item, err, c.maxRetries))
					q.Done(item)
				}
				if !slices.Equal(drops, c.drops) {
					t.Errorf("dropped for %q, want %q", drops, c.drops)
				}
				time.Sleep(time.Hour)
				if q.Len() != 0 || q.NumRequeues("a") != 0 {
					t.Errorf("%d items are ready, and a has %d requeues", q.Len(), q.NumRequeues("a"))
				}
				want := metricstest.Snapshot{
					"controller_backoff_seconds_count{controller=c}": c.retries,
					"controller_backoff_seconds_sum{controller=c}":   c.backoff / 1000,
					"controller_item_retries_count{controller=c}":    1,
					"controller_item_retries_sum{controller=c}":      c.retries,
				}
				for _, reason := range catalog.ControllerDropped.Values("reason") {
					want[dropped(reason)] = 0
				}
				if reason := c.drops[len(c.drops)-1]; reason != retried {
					want[dropped(string(reason))] = 1
				}
				s := metricstest.Take(t, reg)
				for series, value := range want {
					if got, ok := s[series]; !ok && value != 0 || got < value-1e-9 || got > value+1e-9 {
						t.Errorf("%s = %v (exists: %t), want %v", series, got, ok, value)
					}
				}
				finish(q)
			})
		})
	}
}

// An item that the queue no longer accepts is dropped and forgotten.
func TestRetryDuringTheShutdown(t *testing.T) {
	obs, reg := observertest.New(t)
	q := queue.NewTypedRateLimitingQueue(obs, "c", workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
	q.Add("a")
	_, _ = q.Get()
	q.ShutDown()
	if reason := retry(q, "a", errTest, 3); reason != queue.DroppedShutdown {
		t.Errorf("dropped for %q", reason)
	}
	s := metricstest.Take(t, reg)
	if s[dropped("shutdown")] != 1 || s["controller_backoff_seconds_count{controller=c}"] != 0 || s["controller_item_retries_count{controller=c}"] != 1 {
		t.Errorf("got:\n%s", s)
	}
	q.Done("a")
	finish(q)
}

func TestTerminalErrors(t *testing.T) {
	if err := terminal(nil); err != nil {
		t.Errorf("terminal(nil) is %v", err)
	}
	inner := &customError{}
	err := fmt.Errorf("outer: %w", terminal(fmt.Errorf("inner: %w", errors.Join(io.EOF, inner))))
	var (
		custom   *customError
		reported interface{ Terminal() bool }
	)
	for what, ok := range map[string]bool{
		"terminal":                      isTerminal(err),
		"terminal for the library":      errors.As(err, &reported) && reported.Terminal(),
		"errors.Is finds the cause":     errors.Is(err, io.EOF),
		"errors.As finds the cause":     errors.As(err, &custom) && custom == inner,
		"errors.Is finds no others":     !errors.Is(err, io.ErrUnexpectedEOF),
		"other errors are not terminal": !isTerminal(inner) && !isTerminal(io.EOF) && !isTerminal(nil),
		"the text has the class":        err.Error() == "outer: terminal error: inner: EOF\ncustom",
		"one of several is terminal":    isTerminal(errors.Join(io.EOF, terminal(io.EOF))),
	} {
		if !ok {
			t.Errorf("false: %s (%v)", what, err)
		}
	}
}

type customError struct{}

func (*customError) Error() string { return "custom" }
