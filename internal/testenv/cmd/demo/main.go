// Command demo runs the whole stack on this machine: a Kubernetes control plane, a load generator built on the library,
// the exporter, Prometheus with the generated rules and Alertmanager with the generated routes.
//
//	go run ./internal/testenv/cmd/demo
//	go run ./internal/testenv/cmd/demo --fault=half-open --for=1m
//
// While it runs, the name of a fault on standard input injects it, and "restore" ends it.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
)

type options struct {
	fault    string
	faultFor time.Duration
	runFor   time.Duration
	writes   float64
	objects  int
	verbose  bool
}

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx = endWithParent(ctx)
	err = run(ctx, o, os.Stdin, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	app := kingpin.New("demo", "Run the whole stack on this machine, on the loopback interface only.")
	app.Flag("fault", "Fault to inject once everything is ready.").PlaceHolder("NAME").StringVar(&o.fault)
	app.Flag("for", "How long the fault lasts; 0 is until the demo ends.").Default("0s").DurationVar(&o.faultFor)
	app.Flag("exit-after", "End by itself after this time; 0 is when interrupted.").Default("0s").DurationVar(&o.runFor)
	app.Flag("writes", "Writes per second of the load generator.").Default("20").Float64Var(&o.writes)
	app.Flag("objects", "Bound of the load generator's objects.").Default("200").IntVar(&o.objects)
	app.Flag("verbose", "Log what is of interest to whoever works on the demo.").BoolVar(&o.verbose)
	if _, err := app.Parse(args); err != nil {
		return o, fmt.Errorf("%w; see --help", err)
	}
	if o.fault == "" {
		return o, nil
	}
	_, err := chain.FaultByName(o.fault) // before minutes of building
	return o, err
}

func run(ctx context.Context, o options, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	level := slog.LevelInfo
	if o.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	begin := time.Now()
	c, err := chain.Start(ctx, chain.Options{
		Log: log, WellKnownPorts: true,
		// Somebody is waiting for what they find.
		Exporter: map[string]any{"checks": map[string]any{"freshness": "5s", "audit": "30s"}},
		Load:     load.Options{WritesPerSecond: o.writes, Objects: o.objects},
	})
	if err != nil {
		return err
	}
	defer func() {
		log.Info("stopping everything")
		err = errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}()
	if o.runFor > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.runFor)
		defer cancel()
	}
	printGuide(stdout, c, time.Since(begin))

	s := &stage{chain: c, log: log}
	defer s.restore(context.WithoutCancel(ctx))
	if o.fault != "" {
		if err := s.inject(ctx, o.fault); err != nil {
			return err
		}
	}
	var end <-chan time.Time
	if o.fault != "" && o.faultFor > 0 {
		end = time.After(o.faultFor)
	}
	commands := lines(stdin)
	for {
		// A server that a fault has ended is no surprise; faults start etcd again before they return.
		exporterEnded := c.Exporter.Done()
		if s.name == "exporter-kill" {
			exporterEnded = nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-end:
			end = nil
			s.restore(ctx)
		case <-c.ControlPlane.Etcd.Done():
			return errors.New("etcd has ended:\n" + c.ControlPlane.Etcd.LogTail())
		case <-exporterEnded:
			return errors.New("the exporter has ended:\n" + c.Exporter.LogTail())
		case <-c.Prometheus.Done():
			return errors.New("Prometheus has ended:\n" + c.Prometheus.LogTail())
		case command, open := <-commands:
			if !open {
				commands = nil // standard input has ended, which ends nothing else
				continue
			}
			s.command(ctx, command)
		}
	}
}

// stage holds the fault that is on.
type stage struct {
	chain *chain.Chain
	log   *slog.Logger
	name  string
	end   func(context.Context) error
}

func (s *stage) command(ctx context.Context, command string) {
	switch command {
	case "":
	case "restore":
		s.restore(ctx)
	default:
		if err := s.inject(ctx, command); err != nil {
			s.log.Error(err.Error())
		}
	}
}

func (s *stage) inject(ctx context.Context, name string) error {
	fault, err := chain.FaultByName(name)
	if err != nil {
		return err
	}
	s.restore(ctx)
	s.log.Info("injecting fault", "fault", fault.Name, "does", fault.Does, "look at", fault.Shows, "wait for", cmp.Or(fault.Alert, "no alert"))
	end, err := fault.Inject(ctx, s.chain)
	if err != nil {
		return err
	}
	s.name, s.end = name, end
	return nil
}

func (s *stage) restore(ctx context.Context) {
	if s.end == nil {
		return
	}
	name, end := s.name, s.end
	s.name, s.end = "", nil
	if err := end(ctx); err != nil {
		s.log.Error("the fault could not be ended", "fault", name, "err", err)
		return
	}
	s.log.Info("the fault has ended", "fault", name)
}

func lines(r io.Reader) <-chan string {
	ch := make(chan string)
	go func() { // ends with the input, or with the program
		defer close(ch)
		for s := bufio.NewScanner(r); s.Scan(); {
			ch <- strings.TrimSpace(s.Text())
		}
	}()
	return ch
}

// endWithParent ends the context when the program that started this one is gone: `go run` passes Ctrl-C on, because the
// terminal does, but dies of a SIGTERM without a word to what it runs.
func endWithParent(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	parent := os.Getppid()
	go func() {
		ticker := time.NewTicker(500 * time.Millisecond)
		defer ticker.Stop()
		for os.Getppid() == parent {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
		cancel(errors.New("the program that started the demo has ended"))
	}()
	return ctx
}
