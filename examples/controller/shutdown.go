package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

// shutdown stops a controller in an order that loses no work: intake, workers, informers, lock. A step that is nil is
// skipped.
type shutdown struct {
	stopIntake    func(context.Context) error
	drainWorkers  func(context.Context) error
	stopInformers func(context.Context) error
	releaseLock   func(context.Context) error

	// queue is optional. Its remaining items are counted as dropped.
	queue *queue.Queue[string]
	// keepLockUnlessDrained lets the lock expire if drainWorkers fails, because a worker may still run when the next leader
	// starts. By default the lock is released, as in controller-runtime: the process is about to end.
	keepLockUnlessDrained bool
	// gracePeriod is the terminationGracePeriodSeconds of the Pod.
	gracePeriod time.Duration
}

// run runs all steps, even after one that fails, panics or hangs. The lock is therefore released in any case, unless
// keepLockUnlessDrained is set. run returns the errors of all steps, joined.
//
// From the start, the steps have until 1/10, 7/10, 8/10 and 9/10 of the grace period: with 30 seconds, 18 for the workers
// and 3 for each other step. The last tenth is for the rest of the program. The cancellation of ctx is ignored, because it
// is usually the reason for the shutdown.
func (s shutdown) run(ctx context.Context, obs *collectors.Observer) error {
	ctx = context.WithoutCancel(ctx)
	start := time.Now()
	var errs []error
	drained := true
	for _, step := range []struct {
		name   controllers.ShutdownStep
		run    func(context.Context) error
		tenths time.Duration
	}{
		{controllers.StopIntake, s.stopIntake, 1},
		{controllers.DrainWorkers, s.drainWorkers, 7},
		{controllers.StopInformers, s.stopInformers, 8},
		{controllers.ReleaseLock, s.releaseLock, 9},
	} {
		observed := controllers.NewShutdownStep(obs, program, step.name, abandonable(step.run))
		switch {
		case step.run == nil:
			continue
		case step.name == controllers.ReleaseLock && s.keepLockUnlessDrained && !drained:
			slog.Error("lock not released: workers may still be running")
			continue
		}
		ctx, cancel := context.WithDeadline(ctx, start.Add(s.gracePeriod*step.tenths/10))
		err := recovered(func() error { return observed(ctx) })
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", step.name, err))
			drained = drained && step.name != controllers.DrainWorkers
		}
	}
	if s.queue != nil {
		if items := s.queue.Remaining(); items > 0 {
			s.queue.Dropped(queue.DroppedShutdown, items)
			slog.Warn("items dropped by the shutdown", "items", items)
		}
	}
	return errors.Join(errs...)
}

// abandonable runs a step on a separate goroutine and returns when its context ends, even if the step does not. A panic of
// the step is propagated.
func abandonable(step func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ended := make(chan error, 1)
		go func() {
			defer close(ended)
			ended <- recovered(func() error { return step(ctx) })
		}()
		select {
		case err, ok := <-ended:
			if !ok {
				err = panicError{"the step has ended its goroutine"}
			}
			if p := (panicError{}); errors.As(err, &p) {
				panic(p)
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
