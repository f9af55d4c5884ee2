package controllers

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// ShutdownStep is a step of a controller's shutdown.
type ShutdownStep string

// The steps, in an order that loses no work.
const (
	// StopIntake removes event handlers and shuts the queue down.
	StopIntake ShutdownStep = "stop_intake"
	// DrainWorkers waits until the workers have returned.
	DrainWorkers ShutdownStep = "drain_workers"
	// StopInformers stops the informers. The workers read their caches until then.
	StopInformers ShutdownStep = "stop_informers"
	// ReleaseLock gives up leadership, so that another replica does not wait until the lease expires.
	ReleaseLock ShutdownStep = "release_lock"
)

// NewShutdownStep decorates a step of a controller's shutdown. It reports its duration by result, in
// controller_shutdown_duration_seconds and in the log, because few processes are scraped after their shutdown. A step that
// returns an error counts as timeout if its context has ended, otherwise as error. A panic is counted and not recovered.
//
// The order of the steps and their deadlines are up to the caller; copy them from examples/controller. The metric reports
// the last run of each step. It has no series for a step that has not run since NewShutdownStep was last called for it. The
// series exist until Forget. An unknown step is run without being observed. The returned function is safe for concurrent
// use if run is.
func NewShutdownStep(obs *collectors.Observer, controller string, step ShutdownStep, run func(context.Context) error) func(context.Context) error {
	if !slices.Contains(catalog.ControllerShutdownDuration.Values("step"), string(step)) {
		return run
	}
	r := registryOf(obs)
	s := seriesOf(r, func(scope *core.Scope) *shutdowns {
		return &shutdowns{scope: scope, last: map[ShutdownStep]stepRun{}}
	}, controller)
	s.reset(step)
	return func(ctx context.Context) (err error) {
		result, start := shutdownPanic, time.Now()
		defer func() {
			took := time.Since(start)
			s.report(step, stepRun{result, took})
			level := slog.LevelInfo
			if result != shutdownSuccess {
				level = slog.LevelError
			}
			r.Logger.Log(ctx, level, "shutdown step ended", "controller", controller, "step", step, "result", result, "duration", took, "err", err)
		}()
		err = run(ctx)
		switch {
		case err == nil:
			result = shutdownSuccess
		case ctx.Err() != nil:
			result = shutdownTimeout
		default:
			result = shutdownError
		}
		return err
	}
}

// shutdowns are the series of a controller's shutdown.
type shutdowns struct {
	scope *core.Scope

	mu   sync.Mutex
	last map[ShutdownStep]stepRun
}

// stepRun is one run of a step.
type stepRun struct {
	result string
	took   time.Duration
}

var _ collector = &shutdowns{}

func (s *shutdowns) report(step ShutdownStep, run stepRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[step] = run
}

func (s *shutdowns) reset(step ShutdownStep) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, step)
}

func (s *shutdowns) collect(ch chan<- prometheus.Metric) {
	s.mu.Lock()
	last := maps.Clone(s.last)
	s.mu.Unlock()
	for step, run := range last {
		s.scope.SendGauge(ch, catalog.ControllerShutdownDuration, run.took.Seconds(), string(step), run.result)
	}
}
