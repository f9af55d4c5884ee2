package main

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
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// closing is a controller that is shutting down.
type closing struct {
	*testing.T
	shutdown
	obs *collectors.Observer
	reg *prometheus.Registry
	log *syncBuffer
	// started lists the steps in the order in which they started. mu guards it: a step that hangs is abandoned.
	mu      sync.Mutex
	started []string
	// release ends steps that hang.
	release chan struct{}
}

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

// newClosing returns a controller with steps that take a second each.
func newClosing(t *testing.T) *closing {
	c := &closing{T: t, log: &syncBuffer{}, release: make(chan struct{}), shutdown: shutdown{gracePeriod: 30 * time.Second}}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(c.log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	c.obs, c.reg = observertest.New(t, func(o *collectors.Options) { o.Logger = slog.Default() })
	for _, step := range catalog.ControllerShutdownDuration.Values("step") {
		c.set(step, func(context.Context) error { time.Sleep(time.Second); return nil })
	}
	return c
}

// set sets what a step does.
func (c *closing) set(step string, f func(context.Context) error) {
	s := map[string]*func(context.Context) error{
		"stop_intake":    &c.stopIntake,
		"drain_workers":  &c.drainWorkers,
		"stop_informers": &c.stopInformers,
		"release_lock":   &c.releaseLock,
	}
	*s[step] = func(ctx context.Context) error {
		c.mu.Lock()
		c.started = append(c.started, step)
		c.mu.Unlock()
		return f(ctx)
	}
}

// hangs is a step that ignores its context.
func (c *closing) hangs(context.Context) error { <-c.release; return nil }

// waits is a step that ends with its context.
func (*closing) waits(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// end shuts down and returns the reported durations by step/result.
func (c *closing) end() (map[string]time.Duration, error) {
	c.Helper()
	// The context of a terminating program has ended.
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(c.Context(), key{}, "program"))
	cancel()
	s := c.shutdown
	s.stopIntake = func(ctx context.Context) error {
		if ctx.Value(key{}) != "program" {
			c.Error("the values of the context are lost")
		}
		return c.stopIntake(ctx)
	}
	err := s.run(ctx, c.obs)
	took := map[string]time.Duration{}
	for series, seconds := range metricstest.Take(c, c.reg).Family("controller_shutdown_duration_seconds") {
		labels, ok := strings.CutPrefix(series, "controller_shutdown_duration_seconds{controller=widgets,result=")
		result, step, _ := strings.Cut(strings.TrimSuffix(labels, "}"), ",step=")
		if !ok {
			c.Errorf("reported: %s", series)
		}
		took[step+"/"+result] = time.Duration(seconds * float64(time.Second))
	}
	return took, err
}

func (c *closing) want(got, want map[string]time.Duration) {
	c.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		c.Errorf("the steps took %v, want %v", got, want)
	}
}

const (
	done     = "/" + "success"
	timedOut = "/" + "timeout"
)

// TestShutdownOrder covers S23: the steps run one after the other in their order, each is reported and logged, and items that
// remain are counted as dropped.
func TestShutdownOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClosing(t)
		c.queue = queue.NewTypedRateLimitingQueue(c.obs, program, workqueue.DefaultTypedControllerRateLimiter[string](), queue.Options[string]{})
		for n := range 7 {
			c.queue.AddAfter(fmt.Sprint(n), time.Hour)
		}
		c.set("stop_intake", func(context.Context) error { finish(c.queue); return nil })
		took, err := c.end()
		if err != nil {
			t.Error(err)
		}
		c.want(took, map[string]time.Duration{
			"stop_intake" + done: 0, "drain_workers" + done: time.Second, "stop_informers" + done: time.Second, "release_lock" + done: time.Second,
		})
		if want := catalog.ControllerShutdownDuration.Values("step"); !slices.Equal(c.started, want) {
			t.Errorf("the order is %v, want %v", c.started, want)
		}
		for _, step := range c.started {
			if n := strings.Count(c.log.String(), "controller=widgets step="+step+" result="+"success"); n != 1 {
				t.Errorf("%s is logged %d times in\n%s", step, n, c.log)
			}
		}
		s := metricstest.Take(t, c.reg)
		for reason, want := range map[string]float64{"shutdown": 7, "terminal": 0} {
			if n := s["controller_dropped_total{controller=widgets,reason="+reason+"}"]; n != want {
				t.Errorf("%v items are dropped by %s, want %v", n, reason, want)
			}
		}
		if !strings.Contains(c.log.String(), "items=7") {
			t.Errorf("the remaining items are not logged:\n%s", c.log)
		}
	})
}

// TestShutdownOutcomes covers S23: a step that fails, panics, or ends its goroutine is reported, and all other steps run.
func TestShutdownOutcomes(t *testing.T) {
	for result, f := range map[string]func(context.Context) error{
		"error":  func(context.Context) error { return errTest },
		"panic":  func(context.Context) error { panic("in " + "the step") },
		"goexit": func(context.Context) error { runtime.Goexit(); return nil },
	} {
		for _, step := range catalog.ControllerShutdownDuration.Values("step") {
			t.Run(result+" in "+step, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newClosing(t)
					c.set(step, f)
					took, err := c.end()
					if err == nil || !strings.HasPrefix(err.Error(), step+": ") {
						t.Errorf("the error is %v", err)
					}
					want := map[string]time.Duration{}
					for _, s := range catalog.ControllerShutdownDuration.Values("step") {
						want[s+done] = time.Second
					}
					delete(want, step+done)
					switch result {
					case "error":
						want[step+"/"+"error"] = 0
						if !errors.Is(err, errTest) {
							t.Errorf("the error is %v", err)
						}
					case "panic":
						want[step+"/"+"panic"] = 0
						if !strings.Contains(err.Error(), "panic: in the step") || strings.Count(c.log.String(), "stack=") != 1 ||
							!strings.Contains(c.log.String(), "TestShutdownOutcomes") {
							t.Errorf("%v; want exactly one stack in the log:\n%s", err, c.log)
						}
					default:
						want[step+"/"+"panic"] = 0
					}
					c.want(took, want)
				})
			})
		}
	}
}

// TestShutdownHangs covers S23 and O2: a step that hangs takes no more than its share of the grace period, the lock is
// released in any case, and the program has time left.
func TestShutdownHangs(t *testing.T) {
	for name, hang := range map[string]func(*closing) func(context.Context) error{
		"ignores its context":   func(c *closing) func(context.Context) error { return c.hangs },
		"ends with its context": func(c *closing) func(context.Context) error { return c.waits },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClosing(t)
				defer close(c.release)
				c.set("stop_intake", hang(c))
				c.set("drain_workers", hang(c))
				c.set("stop_informers", hang(c))
				begin := time.Now()
				took, err := c.end()
				c.want(took, map[string]time.Duration{
					"stop_intake" + timedOut: 3 * time.Second, "drain_workers" + timedOut: 18 * time.Second,
					"stop_informers" + timedOut: 3 * time.Second, "release_lock" + done: time.Second,
				})
				if !errors.Is(err, context.DeadlineExceeded) || strings.Count(err.Error(), "\n") != 2 {
					t.Errorf("the error is %v", err)
				}
				if total := time.Since(begin); total != 25*time.Second {
					t.Errorf("all steps took %v", total)
				}
			})
		})
	}
}

// TestShutdownHangsInTheLock: a tenth of the grace period remains for the program, and a step can use the time that earlier
// steps did not need.
func TestShutdownHangsInTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClosing(t)
		defer close(c.release)
		c.gracePeriod = 10 * time.Second
		c.set("stop_intake", func(context.Context) error { return nil })
		c.set("drain_workers", c.waits)
		c.set("stop_informers", func(context.Context) error { return nil })
		c.set("release_lock", c.hangs)
		took, _ := c.end()
		c.want(took, map[string]time.Duration{
			"stop_intake" + done: 0, "drain_workers" + timedOut: 7 * time.Second, "stop_informers" + done: 0, "release_lock" + timedOut: 2 * time.Second,
		})
	})
}

// TestShutdownWithoutSteps: a step that is nil is neither run nor reported.
func TestShutdownWithoutSteps(t *testing.T) {
	c := newClosing(t)
	c.drainWorkers, c.stopInformers, c.releaseLock = nil, nil, nil
	c.set("stop_intake", func(context.Context) error { return nil })
	took, err := c.end()
	if len(took) != 1 || err != nil || len(c.started) != 1 {
		t.Errorf("%v, %v", took, err)
	}
}

// TestShutdownKeepsTheLock: if workers may still be running, the lock can be left to expire.
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
				r.set("drain_workers", c.drain)
				r.keepLockUnlessDrained = true
				_, err := r.end()
				if released := slices.Contains(r.started, "release_lock"); released != c.releases || released != (err == nil) {
					t.Errorf("released: %t, %v", released, err)
				}
			})
		})
	}
}

// TestShutdownAgain: a second controller with the same name reports its own shutdown.
func TestShutdownAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClosing(t)
		c.set("drain_workers", func(context.Context) error { return errTest })
		_, _ = c.end()
		c.set("drain_workers", func(context.Context) error { return nil })
		took, err := c.end()
		if _, failed := took["drain_workers/error"]; failed || len(took) != 4 || err != nil {
			t.Errorf("%v, %v", took, err)
		}
		c.keepLockUnlessDrained = true
		c.set("drain_workers", func(context.Context) error { return errTest })
		if took, _ = c.end(); len(took) != 3 {
			t.Errorf("a skipped step reports an earlier run: %v", took)
		}
		c.stopInformers = nil
		if took, _ = c.end(); len(took) != 2 {
			t.Errorf("a step that is nil reports an earlier run: %v", took)
		}
	})
}
