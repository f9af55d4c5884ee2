package collectors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// ShutdownSteps are what a controller does in order to end. A step that is nil is left out. Each gets a context that ends
// with the step's time, and should return soon after that: one that does not is left running.
type ShutdownSteps struct {
	// StopIntake keeps new work out: it removes the event handlers, and shuts the queue down.
	StopIntake func(context.Context) error
	// DrainWorkers waits until the workers have ended, which they do when a queue that was shut down is empty.
	DrainWorkers func(context.Context) error
	// StopInformers ends the informers, of which the workers have read until now, and waits for that.
	StopInformers func(context.Context) error
	// ReleaseLock gives up the leadership, so that another replica need not wait until it expires: it ends the context of
	// a leader elector with ReleaseOnCancel, and waits until its Run has returned.
	ReleaseLock func(context.Context) error

	// KeepLockUnlessDrained leaves the lock alone if DrainWorkers has not succeeded, because a worker may still be running
	// when the next replica begins: the lock then expires after the process has ended. The default is to release it all the
	// same, as controller-runtime does, which is for processes that end right after that.
	KeepLockUnlessDrained bool
	// GracePeriod is the pod's terminationGracePeriodSeconds. A tenth of it is kept for what the program does besides. The
	// default is 30 seconds, as it is Kubernetes'.
	GracePeriod time.Duration
	// Queue is asked at the end how many items are left, for controller_dropped_total.
	Queue interface{ Remaining() int }
}

const defaultGracePeriod = 30 * time.Second

// ShutdownController ends a controller in the order in which nothing is lost that need not be: no new work, no workers, no
// informers, no lock. It goes on after a step that fails, panics or takes too long, so that the lock is released in any
// case, and returns the errors of all steps, joined.
//
// Counted from the begin, the steps must have ended after 1/10, 7/10, 8/10 and 9/10 of the grace period: what one leaves
// is the next one's. With the default of 30 seconds that gives 18 seconds to the workers, and 3 to each other step and to
// the rest of the program. ctx only carries values: that it has ended mostly is why the controller ends.
//
// A step runs on a goroutine of its own. A panic in it is recovered, logged with its stack and returned as an error. How
// each step went is logged, and stands in controller_shutdown_duration_seconds until the controller is forgotten. Few
// processes are scraped after that, so that the log may be all there is.
func (o *Observer) ShutdownController(ctx context.Context, controller string, steps ShutdownSteps) error {
	grace := steps.GracePeriod
	if grace <= 0 {
		grace = defaultGracePeriod
	}
	run := shutdown{
		series:  o.shutdowns(controller),
		logger:  o.logger.With("controller", controller),
		started: time.Now(),
		grace:   grace,
	}
	run.series.begin()
	ctx = context.WithoutCancel(ctx)
	run.step(ctx, catalog.ShutdownIntake, steps.StopIntake, 1)
	drained := run.step(ctx, catalog.ShutdownWorkers, steps.DrainWorkers, 7)
	run.step(ctx, catalog.ShutdownInformers, steps.StopInformers, 8)
	if drained || !steps.KeepLockUnlessDrained {
		run.step(ctx, catalog.ShutdownLock, steps.ReleaseLock, 9)
	} else {
		run.logger.Error("The lock is not released, because workers may still be running")
	}
	if steps.Queue != nil {
		if left := steps.Queue.Remaining(); left > 0 {
			run.series.dropped.Add(float64(left))
			run.logger.Warn("The shutdown has left items in the queue", "items", left)
		}
	}
	return errors.Join(run.errs...)
}

// shutdown is one run of ShutdownController.
type shutdown struct {
	series  *shutdowns
	logger  *slog.Logger
	started time.Time
	grace   time.Duration
	errs    []error
}

// step makes one step, which must have ended after a number of tenths of the grace period, and tells whether it has
// succeeded.
func (s *shutdown) step(ctx context.Context, name string, f func(context.Context) error, tenths time.Duration) bool {
	if f == nil {
		return true
	}
	start := time.Now()
	ctx, cancel := context.WithDeadline(ctx, s.started.Add(s.grace*tenths/10))
	defer cancel()
	end := s.wait(ctx, s.begin(ctx, name, f))
	took := time.Since(start)
	s.series.report(name, end.result, took)
	if end.err == nil {
		s.logger.Info("A step of the shutdown has ended", "step", name, "result", end.result, "duration", took)
		return true
	}
	s.logger.Error("A step of the shutdown has ended", "step", name, "result", end.result, "duration", took, "err", end.err)
	s.errs = append(s.errs, fmt.Errorf("%s: %w", name, end.err))
	return false
}

// stepEnd is how a step ended: the value of catalog.LabelShutdownResult, and nil if that is done.
type stepEnd struct {
	result string
	err    error
}

// begin starts a step on a goroutine, which reports once and is not waited for longer than the step has time.
func (s *shutdown) begin(ctx context.Context, name string, f func(context.Context) error) <-chan stepEnd {
	ended := make(chan stepEnd, 1)
	go func() {
		end := stepEnd{catalog.ShutdownPanic, errors.New("the step has ended its goroutine")}
		defer func() {
			if value := recover(); value != nil {
				end.err = fmt.Errorf("panic: %v", value)
				s.logger.Error("A step of the shutdown has panicked", "step", name, "panic", value, "stack", string(debug.Stack()))
			}
			ended <- end
		}()
		switch err := f(ctx); {
		case err == nil:
			end = stepEnd{catalog.ShutdownDone, nil}
		case ctx.Err() != nil:
			end = stepEnd{catalog.ShutdownTimeout, err}
		default:
			end = stepEnd{catalog.ShutdownError, err}
		}
	}()
	return ended
}

// wait returns how a step ended, also if its time is up.
func (*shutdown) wait(ctx context.Context, ended <-chan stepEnd) stepEnd {
	select {
	case end := <-ended:
		return end
	case <-ctx.Done():
	}
	select {
	case end := <-ended:
		return end
	default:
		return stepEnd{catalog.ShutdownTimeout, ctx.Err()}
	}
}

// shutdowns are the series of a controller's shutdowns. Normally it has one.
type shutdowns struct {
	obs     *Observer
	labels  []string
	dropped prometheus.Counter

	mu    sync.Mutex
	steps map[string]stepReport
}

// stepReport is what the last shutdown tells of one step.
type stepReport struct {
	result string
	took   time.Duration
}

var _ controllerSeries = &shutdowns{}

func (o *Observer) shutdowns(controller string) *shutdowns {
	return controllerSeriesFor(o, func(labels ...string) *shutdowns {
		return &shutdowns{
			obs:     o,
			labels:  labels,
			dropped: o.acquireDropped(labels[0])[catalog.DroppedShutdown],
			steps:   map[string]stepReport{},
		}
	}, controller)
}

// begin forgets an earlier shutdown: a step that is skipped this time has no outcome.
func (s *shutdowns) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.steps)
}

func (s *shutdowns) report(step, result string, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps[step] = stepReport{result, took}
}

func (s *shutdowns) collect(ch chan<- prometheus.Metric) {
	s.mu.Lock()
	steps := maps.Clone(s.steps)
	s.mu.Unlock()
	for step, r := range steps {
		ch <- s.obs.vecs.sample(catalog.ControllerShutdownDuration, r.took.Seconds(), append(slices.Clone(s.labels), step, r.result)...)
	}
}

func (s *shutdowns) forget() { s.obs.releaseDropped(s.labels[0]) }
