package main

import (
	"errors"

	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

// retry adds an item again after its backoff if its reconcile returned an error. It drops the item after maxRetries retries
// in a row (no limit if negative), for a terminal error, and once the queue has been shut down. A dropped item returns with
// the next event of its object. retry returns why the item was dropped, "" if it was not.
func retry[T comparable](q *queue.Queue[T], item T, err error, maxRetries int) (dropped queue.DropReason) {
	switch {
	case err == nil:
	case isTerminal(err):
		dropped = queue.DroppedTerminal
	case maxRetries >= 0 && q.NumRequeues(item) >= maxRetries:
		dropped = queue.DroppedMaxRetries
	case q.ShuttingDown():
		dropped = queue.DroppedShutdown
	default:
		q.AddRateLimited(item)
		return ""
	}
	if dropped != "" {
		q.Dropped(dropped, 1)
	}
	q.Forget(item)
	return dropped
}

// terminal marks an error that no retry can fix. It returns nil for nil.
func terminal(err error) error {
	if err == nil {
		return nil
	}
	return terminalError{err}
}

func isTerminal(err error) bool { return errors.As(err, new(terminalError)) }

type terminalError struct{ error }

// Error implements error.
func (e terminalError) Error() string { return "terminal error: " + e.error.Error() }

func (e terminalError) Unwrap() error { return e.error }

// Terminal makes controllers.NewReconciler count the reconcile as terminal.
func (e terminalError) Terminal() bool { return true }
