// Command soak runs the whole local stack under random faults, then verifies that every informer of the exporter and of the
// load generator is synced, connected and consistent with the API server, and that the exporter's goroutines and memory
// have not grown.
//
//	go run ./internal/testenv/cmd/soak --duration=30m
//
// The exporter's periodic checks run ten times as often as by default, so that 144 minutes have as many checks as a day;
// --speed changes that. The figures are printed after each fault has occurred once, then every 6 minutes (an hour at that
// speed), and at the end. The command exits with 1 if a check fails. The printed seed reproduces the order of the faults.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/model"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
)

type options struct {
	duration time.Duration
	speed    int
	seed     uint64
	verbose  bool
}

func main() {
	var o options
	app := kingpin.New("soak", "Run the whole local stack under random faults, and compare before and after.")
	app.Flag("duration", "Duration of the faults.").Default("30m").DurationVar(&o.duration)
	app.Flag("speed", "Factor by which the exporter checks its caches more often than by default; the hour between figures is shorter by the same factor.").Default("10").IntVar(&o.speed)
	app.Flag("seed", "Seed for the order of the faults; 0 uses a random one.").Default("0").Uint64Var(&o.seed)
	app.Flag("verbose", "Log at debug level.").BoolVar(&o.verbose)
	kingpin.MustParse(app.Parse(os.Args[1:]))
	if o.speed < 1 || o.speed > 30 { // the exporter rejects intervals below a second
		app.Fatalf("--speed is %d, want 1 to 30", o.speed)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	speed := time.Duration(o.speed)
	fmt.Fprintf(out, "seed %d, faults for %v at %d times the speed\n", o.seed, o.duration, o.speed)
	freshness, audit := config.Checks{}.Intervals()
	c, err := chain.Start(ctx, chain.Options{
		Exporter: map[string]any{"checks": map[string]any{"freshness": model.Duration(freshness / speed).String(), "audit": model.Duration(audit / speed).String()}},
		Log:      slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
		Load:     load.Options{WritesPerSecond: 20, Objects: 200},
		Interval: scrapes,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop(context.WithoutCancel(ctx))) }()

	s := &soak{chain: c, out: out, random: rand.New(rand.NewPCG(o.seed, 0)), patience: patience + 3*audit/speed}
	// The comparison requires that the exporter is not restarted.
	faults := slices.DeleteFunc(chain.Faults(), func(f chain.Fault) bool { return f.Name == "exporter-kill" })
	// The first occurrence of a fault causes permanent growth, such as buffers of new connections and series of errors, which
	// belongs to the baseline.
	for _, f := range faults {
		if err := s.fault(ctx, f.Name); err != nil {
			return err
		}
	}
	before, err := s.settle(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "before: %v\n", before)
	// A failure does not end the run, so that the figures of later hours are not lost.
	var failed error
	hour := time.Hour / speed
	begin := time.Now()
	for hours := 1; time.Since(begin) < o.duration; {
		if err := s.fault(ctx, faults[s.random.IntN(len(faults))].Name); errors.Is(err, chain.ErrNoLeader) {
			fmt.Fprintf(out, "%s not injected: %v\n", time.Now().Format(time.TimeOnly), err)
		} else if err != nil {
			failed = errors.Join(failed, s.failed(err))
		}
		if err := pause(ctx, s.between(time.Second, 10*time.Second)); err != nil {
			return errors.Join(failed, err)
		}
		if time.Since(begin) < time.Duration(hours)*hour {
			continue
		}
		now, err := s.settle(ctx)
		if err != nil {
			failed = errors.Join(failed, s.failed(fmt.Errorf("hour %d: %w", hours, err)))
		} else {
			fmt.Fprintf(out, "hour %d, %d faults: %v\n", hours, s.count, now)
		}
		hours++
	}
	after, err := s.settle(ctx)
	if err != nil {
		return errors.Join(failed, err)
	}
	fmt.Fprintf(out, "after %d faults: %v\n", s.count, after)
	return errors.Join(failed, s.compare(ctx), s.audited(ctx), after.flat(before))
}

// soak is a run in progress.
type soak struct {
	chain  *chain.Chain
	out    io.Writer
	random *rand.Rand
	count  int

	// patience is the timeout of steps that take seconds on an idle machine. It allows for client-go's longest backoff and for
	// three audits.
	patience time.Duration
}

// failed prints a failure when it happens, and returns it.
func (s *soak) failed(err error) error {
	fmt.Fprintf(s.out, "%s FAILED: %v\n", time.Now().Format(time.TimeOnly), err)
	return err
}

// fault injects a fault, waits, and ends it.
func (s *soak) fault(ctx context.Context, name string) error {
	begin := time.Now()
	s.count++
	f, err := chain.FaultByName(name)
	if err != nil {
		return err
	}
	etcd := s.chain.ControlPlane.Etcd
	revision, err := etcd.Revision(ctx)
	if err != nil {
		return err
	}
	restore, err := f.Inject(ctx, s.chain)
	if err != nil {
		return err
	}
	// Paused processes are resumed even after an interrupt.
	err = pause(ctx, s.between(2*time.Second, 15*time.Second))
	if err := errors.Join(err, restore(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s %s %v\n", begin.Format(time.TimeOnly), name, time.Since(begin).Round(time.Second))
	if name != "etcd-restore" {
		return nil
	}
	// client-go's informers do not detect the undone writes (docs/faults.md). They must relist, which fails until the
	// versions have reached their old values.
	for now := int64(0); now <= revision+newer; {
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		if now, err = etcd.Revision(ctx); err != nil {
			return err
		}
	}
	return s.fault(ctx, "etcd-compact")
}

// newer exceeds the number of revisions written between reading the revision and the backup: 30 seconds, at about 40 revisions per
// second.
const newer = 2000

func (s *soak) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.random.Int64N(int64(most-least)))
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
