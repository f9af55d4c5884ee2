package collectors

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// TestRetry covers S8: transient errors are retried with back-off, at most so many times, others are not, and what is
// given up is counted by reason and forgotten.
func TestRetry(t *testing.T) {
	for name, make := range map[string]func(obs *Observer, l workqueue.TypedRateLimiter[string]) *Queue[string]{
		"own": func(obs *Observer, l workqueue.TypedRateLimiter[string]) *Queue[string] {
			return NewQueue(obs, "c", l)
		},
		"wrapped": func(obs *Observer, l workqueue.TypedRateLimiter[string]) *Queue[string] {
			return WrapQueue(obs, "c", workqueue.NewTypedRateLimitingQueue(RateLimiter(obs, "c", l)))
		},
	} {
		for _, c := range []struct {
			name       string
			errors     []error
			maxRetries int
			outcomes   []Outcome
			backoff    []float64
			dropped    string
		}{
			{"success", []error{nil}, 3, []Outcome{OutcomeSuccess}, nil, ""},
			{"success after a retry", []error{errTest, nil}, 3, []Outcome{OutcomeRetry, OutcomeSuccess}, []float64{.005}, ""},
			{
				"three retries", []error{errTest, errTest, errTest, errTest}, 3,
				[]Outcome{OutcomeRetry, OutcomeRetry, OutcomeRetry, OutcomeMaxRetries}, []float64{.005, .01, .02}, catalog.DroppedMaxRetries,
			},
			{"no retry", []error{errTest}, 0, []Outcome{OutcomeMaxRetries}, nil, catalog.DroppedMaxRetries},
			{
				"any number of retries", []error{errTest, errTest, errTest, errTest, nil}, -1,
				[]Outcome{OutcomeRetry, OutcomeRetry, OutcomeRetry, OutcomeRetry, OutcomeSuccess}, []float64{.005, .01, .02, .04}, "",
			},
			{"terminal", []error{TerminalError(errTest)}, 3, []Outcome{OutcomeTerminal}, nil, catalog.DroppedTerminal},
			{
				"terminal, wrapped, after a retry", []error{errTest, fmt.Errorf("x: %w", TerminalError(errTest))}, -1,
				[]Outcome{OutcomeRetry, OutcomeTerminal}, []float64{.005}, catalog.DroppedTerminal,
			},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					obs, reg := newObserver(t)
					q := make(obs, workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second))
					q.Add("a")
					for i, err := range c.errors {
						item, _ := q.Get()
						outcome := q.Retry(item, err, c.maxRetries)
						q.Done(item)
						if outcome != c.outcomes[i] || outcome.Dropped() != (c.dropped != "" && i == len(c.errors)-1) {
							t.Errorf("attempt %d: %s, dropped: %v", i, outcome, outcome.Dropped())
						}
					}
					time.Sleep(time.Hour)
					if q.Len() != 0 || q.NumRequeues("a") != 0 {
						t.Errorf("%d items are ready, and a has %d requeues", q.Len(), q.NumRequeues("a"))
					}
					s := metricstest.Take(t, reg)
					for _, reason := range catalog.LabelDropReason.Values {
						want := 0.0
						if reason == c.dropped {
							want = 1
						}
						check(t, s, metricstest.Snapshot{dropped(reason): want})
					}
					observed(t, reg, catalog.ControllerBackoff, c.backoff...)
					observed(t, reg, catalog.ControllerItemRetries, float64(len(c.backoff)))
					finish(q)
				})
			})
		}
	}
}

// What the queue does not take any more is given up, and says so.
func TestRetryDuringTheShutdown(t *testing.T) {
	obs, reg := newObserver(t)
	q := NewQueue(obs, "c", backoffs())
	q.Add("a")
	_, _ = q.Get()
	q.ShutDown()
	if outcome := q.Retry("a", errTest, 3); outcome != OutcomeShutdown || !outcome.Dropped() {
		t.Errorf("the outcome is %s", outcome)
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{dropped("shutdown"): 1, backoffN: 0, retriesN: 1})
	q.Done("a")
	finish(q)
}

func TestTerminalError(t *testing.T) {
	if err := TerminalError(nil); err != nil {
		t.Errorf("nil became %v", err)
	}
	inner := &customError{}
	err := fmt.Errorf("outer: %w", TerminalError(fmt.Errorf("inner: %w", errors.Join(io.EOF, inner))))
	var custom *customError
	for what, ok := range map[string]bool{
		"is terminal":             errors.Is(err, ErrTerminal),
		"is what it wraps":        errors.Is(err, io.EOF),
		"as what it wraps":        errors.As(err, &custom) && custom == inner,
		"is nothing else":         !errors.Is(err, io.ErrUnexpectedEOF),
		"others are not":          !errors.Is(inner, ErrTerminal) && !isTerminal(io.EOF) && !isTerminal(nil),
		"says what it is":         err.Error() == "outer: terminal error: inner: EOF\ncustom",
		"is known":                isTerminal(err),
		"others can say so":       isTerminal(fmt.Errorf("x: %w", saysTerminal(true))),
		"and can say they aren't": !isTerminal(saysTerminal(false)),
		"not for others, though":  isTerminal(fmt.Errorf("%w, %w", saysTerminal(false), TerminalError(io.EOF))),
	} {
		if !ok {
			t.Errorf("not so: %s (%v)", what, err)
		}
	}
}

type customError struct{}

func (*customError) Error() string { return "custom" }

type saysTerminal bool

func (saysTerminal) Error() string    { return "" }
func (s saysTerminal) Terminal() bool { return bool(s) }
