package collectors

import (
	"errors"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Outcome is what became of an item that a worker has tried to reconcile.
type Outcome string

// The outcomes of Queue.Retry.
const (
	// OutcomeSuccess is an item without an error.
	OutcomeSuccess Outcome = "success"
	// OutcomeRetry is an item that is tried again after its back-off.
	OutcomeRetry Outcome = "retry"
	// OutcomeMaxRetries is an item that was given up because it has failed once more than it may.
	OutcomeMaxRetries Outcome = catalog.DroppedMaxRetries
	// OutcomeTerminal is an item that was given up because of a TerminalError.
	OutcomeTerminal Outcome = catalog.DroppedTerminal
	// OutcomeShutdown is an item that would have been tried again if the queue had not been shut down.
	OutcomeShutdown Outcome = catalog.DroppedShutdown
)

// Dropped tells whether the item was given up: controller_dropped_total counts it.
func (o Outcome) Dropped() bool { return o != OutcomeSuccess && o != OutcomeRetry }

// Retry decides what becomes of an item that a worker has tried to reconcile, with the error that it got. Without an
// error the item is forgotten. With one it is added again after the rate limiter's back-off, at most maxRetries times in
// a row, any number of times if maxRetries is negative; then, and at once for a TerminalError, it is given up: forgotten
// and counted. What is given up comes back with its next event.
//
//	for item, shutdown := queue.Get(); !shutdown; item, shutdown = queue.Get() {
//		err := reconcile(ctx, item)
//		if outcome := queue.Retry(item, err, 15); outcome.Dropped() {
//			logger.Error("Gave up", "item", item, "reason", outcome, "err", err)
//		}
//		queue.Done(item)
//	}
//
// Retry calls Forget where that is due; the call of Done, which the queue expects after each Get, remains the worker's.
// The retries are those that the rate limiter counts (NumRequeues), which a bare workqueue.TypedBucketRateLimiter does
// not.
func (q *Queue[T]) Retry(item T, err error, maxRetries int) Outcome {
	outcome := OutcomeRetry
	switch {
	case err == nil:
		outcome = OutcomeSuccess
	case isTerminal(err):
		outcome = OutcomeTerminal
	case maxRetries >= 0 && q.NumRequeues(item) >= maxRetries:
		outcome = OutcomeMaxRetries
	case q.ShuttingDown():
		outcome = OutcomeShutdown
	}
	if outcome == OutcomeRetry {
		q.AddRateLimited(item)
		return outcome
	}
	if outcome.Dropped() {
		q.series.dropped[string(outcome)].Inc()
	}
	q.Forget(item)
	return outcome
}

// TerminalError marks an error that no retry can mend, as reconcile.TerminalError of controller-runtime does. It returns
// nil for nil. errors.Is and errors.As find what err wraps, and errors.Is(e, ErrTerminal) tells that e is, or wraps, a
// TerminalError. Retry and Reconciler know it, and every other error with a method Terminal() bool that returns true.
// controller-runtime does not know it and would retry: return its own there, with ReconcilerOptions.IsTerminal.
func TerminalError(err error) error {
	if err == nil {
		return nil
	}
	return terminalError{err}
}

// ErrTerminal is what every TerminalError is, for errors.Is.
var ErrTerminal = errors.New("terminal error")

type terminalError struct{ error }

// Error implements error.
func (e terminalError) Error() string { return ErrTerminal.Error() + ": " + e.error.Error() }

func (e terminalError) Unwrap() error        { return e.error }
func (e terminalError) Is(target error) bool { return target == ErrTerminal }

// Terminal tells that no retry can mend the error.
func (e terminalError) Terminal() bool { return true }

// isTerminal tells whether no retry can mend an error. errors.As stops at the first error with the method, whatever that
// one says, hence errors.Is.
func isTerminal(err error) bool {
	var terminal interface{ Terminal() bool }
	return errors.Is(err, ErrTerminal) || errors.As(err, &terminal) && terminal.Terminal()
}
