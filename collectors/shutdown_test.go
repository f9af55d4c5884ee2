package collectors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// closing is a controller that shuts down.
type closing struct {
	*testing.T
	obs   *Observer
	reg   *prometheus.Registry
	log   *syncBuffer
	steps ShutdownSteps
	// did are the steps in the order in which they were begun, mu guards them: a step that hangs is not waited for.
	mu  sync.Mutex
	did []string
	// over ends steps that wait for nothing else.
	over chan struct{}
}

// syncBuffer is a bytes.Buffer that may be written to concurrently.
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

// newClosing returns one whose steps take a second each.
func newClosing(t *testing.T) *closing {
	c := &closing{T: t, log: &syncBuffer{}, over: make(chan struct{})}
	c.obs, c.reg = newObserver(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(c.log, nil)) })
	for _, step := range catalog.LabelShutdownStep.Values {
		c.does(step, func(context.Context) error { time.Sleep(time.Second); return nil })
	}
	return c
}

// does sets what a step does.
func (c *closing) does(step string, f func(context.Context) error) {
	s := map[string]*func(context.Context) error{
		catalog.ShutdownIntake:    &c.steps.StopIntake,
		catalog.ShutdownWorkers:   &c.steps.DrainWorkers,
		catalog.ShutdownInformers: &c.steps.StopInformers,
		catalog.ShutdownLock:      &c.steps.ReleaseLock,
	}
	*s[step] = func(ctx context.Context) error {
		c.mu.Lock()
		c.did = append(c.did, step)
		c.mu.Unlock()
		return f(ctx)
	}
}

// hangs is a step that heeds nothing.
func (c *closing) hangs(context.Context) error { <-c.over; return nil }

// waits is a step that ends with its context.
func (*closing) waits(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// run shuts down and returns by result how long the steps took, as step/result.
func (c *closing) run() (map[string]time.Duration, error) {
	c.Helper()
	// The context of a program that is told to end has ended.
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(c.Context(), key{}, "the program's"))
	cancel()
	values := c.steps.StopIntake
	c.steps.StopIntake = func(ctx context.Context) error {
		if ctx.Value(key{}) != "the program's" {
			c.Error("the values of the context are lost")
		}
		return values(ctx)
	}
	err := c.obs.ShutdownController(ctx, "c", c.steps)
	took := map[string]time.Duration{}
	for series, seconds := range metricstest.Take(c, c.reg) {
		if labels, ok := strings.CutPrefix(series, "controller_shutdown_duration_seconds{controller=c,result="); ok {
			result, step, _ := strings.Cut(strings.TrimSuffix(labels, "}"), ",step=")
			took[step+"/"+result] = time.Duration(seconds * float64(time.Second))
		}
	}
	return took, err
}

func (c *closing) want(got, want map[string]time.Duration) {
	c.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.Errorf("the steps took %v, want %v", got, want)
	}
}

// TestShutdownOrder covers S23: the steps are made one after the other in the documented order, each is reported and
// logged in one line, and what is left in the queue is counted.
func TestShutdownOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClosing(t)
		c.steps.Queue = left(7)
		took, err := c.run()
		if err != nil {
			t.Error(err)
		}
		c.want(took, map[string]time.Duration{
			"stop_intake/success": time.Second, "drain_workers/success": time.Second, "stop_informers/success": time.Second, "release_lock/success": time.Second,
		})
		if want := catalog.LabelShutdownStep.Values; !slices.Equal(c.did, want) {
			t.Errorf("the order was %v, want %v", c.did, want)
		}
		for _, step := range c.did {
			if n := strings.Count(c.log.String(), "controller=c step="+step+" result=success duration=1s\n"); n != 1 {
				t.Errorf("%s is logged %d times in\n%s", step, n, c.log)
			}
		}
		check(t, metricstest.Take(t, c.reg), metricstest.Snapshot{
			"controller_dropped_total{controller=c,reason=shutdown}": 7, "controller_dropped_total{controller=c,reason=terminal}": 0,
		})
		if !strings.Contains(c.log.String(), "items=7") {
			t.Errorf("what is left is not logged:\n%s", c.log)
		}
	})
}

// TestShutdownOutcomes covers S23: a step that fails, panics, or ends its goroutine is reported as such, and the others
// are made.
func TestShutdownOutcomes(t *testing.T) {
	for result, f := range map[string]func(context.Context) error{
		catalog.ShutdownError: func(context.Context) error { return errTest },
		catalog.ShutdownPanic: func(context.Context) error { panic("in " + "the step") },
		"goexit":              func(context.Context) error { runtime.Goexit(); return nil },
	} {
		for _, step := range catalog.LabelShutdownStep.Values {
			t.Run(result+" in "+step, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newClosing(t)
					c.does(step, f)
					took, err := c.run()
					if err == nil || !strings.HasPrefix(err.Error(), step+": ") {
						t.Errorf("the error is %v", err)
					}
					want := map[string]time.Duration{}
					for _, s := range catalog.LabelShutdownStep.Values {
						want[s+"/success"] = time.Second
					}
					delete(want, step+"/success")
					switch result {
					case catalog.ShutdownError:
						want[step+"/error"] = 0
						if !errors.Is(err, errTest) {
							t.Errorf("the error is %v", err)
						}
					case catalog.ShutdownPanic:
						want[step+"/panic"] = 0
						if !strings.Contains(err.Error(), "panic: in the step") || !strings.Contains(c.log.String(), "TestShutdownOutcomes") {
							t.Errorf("%v, and the log has no stack:\n%s", err, c.log)
						}
					default:
						want[step+"/panic"] = 0
					}
					c.want(took, want)
				})
			})
		}
	}
}

// TestShutdownHangs covers S23 and O2: steps that hang cost no more than their share of the grace period, the lock is
// released in any case, and the program has time left.
func TestShutdownHangs(t *testing.T) {
	for name, hang := range map[string]func(*closing) func(context.Context) error{
		"heeding nothing":       func(c *closing) func(context.Context) error { return c.hangs },
		"heeding their context": func(c *closing) func(context.Context) error { return c.waits },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClosing(t)
				defer close(c.over)
				c.does(catalog.ShutdownIntake, hang(c))
				c.does(catalog.ShutdownWorkers, hang(c))
				c.does(catalog.ShutdownInformers, hang(c))
				begin := time.Now()
				took, err := c.run()
				c.want(took, map[string]time.Duration{
					"stop_intake/timeout": 3 * time.Second, "drain_workers/timeout": 18 * time.Second,
					"stop_informers/timeout": 3 * time.Second, "release_lock/success": time.Second,
				})
				if !errors.Is(err, context.DeadlineExceeded) || strings.Count(err.Error(), "\n") != 2 {
					t.Errorf("the error is %v", err)
				}
				if total := time.Since(begin); total != 25*time.Second {
					t.Errorf("all together took %v", total)
				}
			})
		})
	}
}

// TestShutdownHangsInTheLock: nothing comes after it, and the program still has a tenth of the time. What a step does not
// need is the next one's.
func TestShutdownHangsInTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClosing(t)
		defer close(c.over)
		c.steps.GracePeriod = 10 * time.Second
		c.does(catalog.ShutdownIntake, func(context.Context) error { return nil })
		c.does(catalog.ShutdownWorkers, c.waits)
		c.does(catalog.ShutdownInformers, func(context.Context) error { return nil })
		c.does(catalog.ShutdownLock, c.hangs)
		took, _ := c.run()
		c.want(took, map[string]time.Duration{
			"stop_intake/success": 0, "drain_workers/timeout": 7 * time.Second, "stop_informers/success": 0, "release_lock/timeout": 2 * time.Second,
		})
	})
}

// TestShutdownWithoutSteps: what a controller does not have is neither made nor reported.
func TestShutdownWithoutSteps(t *testing.T) {
	c := newClosing(t)
	c.steps.DrainWorkers, c.steps.StopInformers, c.steps.ReleaseLock = nil, nil, nil
	c.does(catalog.ShutdownIntake, func(context.Context) error { return nil })
	took, err := c.run()
	if len(took) != 1 || err != nil || len(c.did) != 1 {
		t.Errorf("%v, %v", took, err)
	}
}

// TestShutdownKeepsTheLock: where workers may still be running, the lock can be left to expire.
func TestShutdownKeepsTheLock(t *testing.T) {
	for name, c := range map[string]struct {
		drain    func(context.Context) error
		releases bool
	}{
		"drained":  {func(context.Context) error { return nil }, true},
		"failed":   {func(context.Context) error { return errTest }, false},
		"panicked": {func(context.Context) error { panic(errTest) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newClosing(t)
				r.does(catalog.ShutdownWorkers, c.drain)
				r.steps.KeepLockUnlessDrained = true
				_, err := r.run()
				if released := slices.Contains(r.did, catalog.ShutdownLock); released != c.releases || released != (err == nil) {
					t.Errorf("released: %t, %v", released, err)
				}
			})
		})
	}
}

// TestShutdownAgain: a successor of the same name reports its own end.
func TestShutdownAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClosing(t)
		c.does(catalog.ShutdownWorkers, func(context.Context) error { return errTest })
		_, _ = c.run()
		c.does(catalog.ShutdownWorkers, func(context.Context) error { return nil })
		took, err := c.run()
		if _, failed := took["drain_workers/error"]; failed || len(took) != 4 || err != nil {
			t.Errorf("%v, %v", took, err)
		}
		c.steps.KeepLockUnlessDrained = true
		c.does(catalog.ShutdownWorkers, func(context.Context) error { return errTest })
		if took, _ = c.run(); len(took) != 3 {
			t.Errorf("a step that is left out has the outcome of an earlier run: %v", took)
		}
	})
}
