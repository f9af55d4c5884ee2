package controllers_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/controllers"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// syncBuffer is a bytes.Buffer for concurrent use.
type syncBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// newLogged returns an Observer that logs to a buffer.
func newLogged(t *testing.T) (*collectors.Observer, *prometheus.Registry, *syncBuffer) {
	log := &syncBuffer{}
	obs, reg := observertest.New(t, func(o *collectors.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	return obs, reg, log
}

func stepSeries(step controllers.ShutdownStep, result string) string {
	return "controller_shutdown_duration_seconds{controller=c,result=" + result + ",step=" + string(step) + "}"
}

func success(context.Context) error { return nil }

// TestShutdownSteps: the constants are those of the catalog, in its order.
func TestShutdownSteps(t *testing.T) {
	steps := []string{
		string(controllers.StopIntake), string(controllers.DrainWorkers), string(controllers.StopInformers), string(controllers.ReleaseLock),
	}
	if !slices.Equal(steps, catalog.ControllerShutdownDuration.Values("step")) {
		t.Errorf("the steps are %v, in the catalog %v", steps, catalog.ControllerShutdownDuration.Values("step"))
	}
}

// TestShutdownResults covers S23: duration and result of each step are reported and logged, and the step gets the caller's
// context.
func TestShutdownResults(t *testing.T) {
	ends := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		run  func(context.Context) error
		err  error
		want string
		took time.Duration
	}{
		"success":         {func(context.Context) error { time.Sleep(time.Second); return nil }, nil, "success", time.Second},
		"success late":    {func(context.Context) error { time.Sleep(time.Hour); return nil }, nil, "success", time.Hour},
		"error":           {func(context.Context) error { time.Sleep(time.Second); return errTest }, errTest, "error", time.Second},
		"error late":      {func(context.Context) error { time.Sleep(time.Hour); return errTest }, errTest, "timeout", time.Hour},
		"ends by context": {ends, context.DeadlineExceeded, "timeout", time.Minute},
	} {
		for _, step := range catalog.ControllerShutdownDuration.Values("step") {
			t.Run(name+" of "+step, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					obs, reg, log := newLogged(t)
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					run := controllers.NewShutdownStep(obs, "c", controllers.ShutdownStep(step), func(given context.Context) error {
						if given != ctx {
							t.Error("the step gets another context")
						}
						return c.run(given)
					})
					metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
					if err := run(ctx); !errors.Is(err, c.err) {
						t.Errorf("returned %v, want %v", err, c.err)
					}
					metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{stepSeries(controllers.ShutdownStep(step), c.want): c.took.Seconds()})
					level := "level=ERROR"
					if c.err == nil {
						level = "level=INFO"
					}
					line := log.String()
					if strings.Count(line, "\n") != 1 || !strings.Contains(line, level) ||
						!strings.Contains(line, " controller=c step="+step+" result="+c.want+" duration="+c.took.String()) {
						t.Errorf("logged:\n%s", line)
					}
				})
			})
		}
	}
}

func stepThatPanics(context.Context) error { panic(errTest) }

// TestShutdownPanic: a panic is counted and reaches the caller with its stack. runtime.Goexit counts as a panic.
func TestShutdownPanic(t *testing.T) {
	obs, reg, log := newLogged(t)
	func() {
		defer func() {
			if value := recover(); value != any(errTest) {
				t.Errorf("recovered %v", value)
			}
			if stack := string(debug.Stack()); !strings.Contains(stack, "stepThatPanics") {
				t.Errorf("the stack does not show the panic:\n%s", stack)
			}
		}()
		_ = controllers.NewShutdownStep(obs, "c", controllers.DrainWorkers, stepThatPanics)(t.Context())
	}()
	exits := controllers.NewShutdownStep(obs, "c", controllers.ReleaseLock, func(context.Context) error { runtime.Goexit(); return nil })
	var exited sync.WaitGroup
	exited.Go(func() { _ = exits(t.Context()) })
	exited.Wait()
	for _, step := range []controllers.ShutdownStep{controllers.DrainWorkers, controllers.ReleaseLock} {
		if _, ok := metricstest.Take(t, reg)[stepSeries(step, "panic")]; !ok {
			t.Errorf("%s is not reported", step)
		}
	}
	if n := strings.Count(log.String(), "result=panic"); n != 2 {
		t.Errorf("%d panics are logged:\n%s", n, log)
	}
}

// TestShutdownAgain: the last run of each step is reported, and a step that is not run again has no series.
func TestShutdownAgain(t *testing.T) {
	obs, reg, _ := newLogged(t)
	intake := controllers.NewShutdownStep(obs, "c", controllers.StopIntake, stepError)
	lock := controllers.NewShutdownStep(obs, "c", controllers.ReleaseLock, stepError)
	_, _ = intake(t.Context()), lock(t.Context())
	controllers.NewShutdownStep(obs, "c", controllers.ReleaseLock, success)
	steps := func(want ...string) {
		t.Helper()
		s := metricstest.Take(t, reg)
		for _, series := range want {
			if _, ok := s[series]; !ok || len(s) != len(want) {
				t.Errorf("want %v:\n%s", want, s)
			}
		}
	}
	steps(stepSeries(controllers.StopIntake, "error"))
	_ = controllers.NewShutdownStep(obs, "c", controllers.StopIntake, success)(t.Context())
	steps(stepSeries(controllers.StopIntake, "success"))
	_ = lock(t.Context())
	steps(stepSeries(controllers.StopIntake, "success"), stepSeries(controllers.ReleaseLock, "error"))
}

// TestUnknownShutdownStep: the label step has a closed set of values.
func TestUnknownShutdownStep(t *testing.T) {
	obs, reg, log := newLogged(t)
	if err := controllers.NewShutdownStep(obs, "c", "another", stepError)(t.Context()); !errors.Is(err, errTest) {
		t.Errorf("returned %v", err)
	}
	metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{})
	if log.String() != "" {
		t.Errorf("logged:\n%s", log)
	}
}

func stepError(context.Context) error { return errTest }

// TestShutdownInParallel: steps of one controller may run concurrently.
func TestShutdownInParallel(t *testing.T) {
	obs, reg, _ := newLogged(t)
	var steps sync.WaitGroup
	for _, step := range catalog.ControllerShutdownDuration.Values("step") {
		for range 2 {
			steps.Go(func() {
				for range 20 {
					_ = controllers.NewShutdownStep(obs, "c", controllers.ShutdownStep(step), success)(t.Context())
					metricstest.Take(t, reg)
				}
			})
		}
	}
	steps.Wait()
	if s := metricstest.Take(t, reg); len(s) != len(catalog.ControllerShutdownDuration.Values("step")) {
		t.Errorf("%d series:\n%s", len(s), s)
	}
}
