// Command demo runs the whole stack on this machine: a Kubernetes control plane, a load generator built on the library,
// the exporter, Prometheus with the generated rules and Alertmanager with the generated routes.
//
//	go run ./internal/testenv/cmd/demo
//	go run ./internal/testenv/cmd/demo --fault=half-open --for=1m
//
// While it runs, the name of a fault on standard input injects that fault, and "restore" ends it. A program that exits unexpectedly
// is restarted, as by a kubelet, and logged.
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
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/churn"
	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

type options struct {
	fault    string
	faultFor time.Duration
	runFor   time.Duration
	writes   float64
	objects  int
	churn    bool
	traces   bool
	lite     bool
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
	interrupted := ctx.Err() != nil && errors.Is(err, context.Canceled) // while it started
	stop()
	if err != nil && !interrupted {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	app := kingpin.New("demo", "Run the whole stack on this machine, on loopback only.")
	app.Flag("fault", "Fault to inject once the stack is ready.").PlaceHolder("NAME").StringVar(&o.fault)
	app.Flag("for", "Duration of the fault; 0 lasts until the demo ends.").Default("0s").DurationVar(&o.faultFor)
	app.Flag("exit-after", "Exit after this time; 0 runs until interrupted.").Default("0s").DurationVar(&o.runFor)
	app.Flag("writes", "Writes per second of the load generator.").Default("20").Float64Var(&o.writes)
	app.Flag("objects", "Maximum number of the load generator's objects.").Default("200").IntVar(&o.objects)
	app.Flag("churn", "Simulate the operations of a healthy cluster at ten times their rate: rolling restarts, deploys, node drains.").BoolVar(&o.churn)
	app.Flag("traces", "Trace all programs, and start Jaeger. Its first build takes three minutes on two cores.").Default("true").BoolVar(&o.traces)
	app.Flag("lite", "Run only etcd, the API server, a load generator, the exporter and Prometheus. Some faults are not available.").BoolVar(&o.lite)
	app.Flag("verbose", "Log at debug level.").BoolVar(&o.verbose)
	if _, err := app.Parse(args); err != nil {
		return o, fmt.Errorf("%w; see --help", err)
	}
	if o.lite && o.churn {
		return o, errors.New("--churn needs kube-controller-manager: omit --lite")
	}
	if o.fault == "" {
		return o, nil
	}
	if o.lite && !slices.ContainsFunc(chain.LiteFaults(), func(f chain.Fault) bool { return f.Name == o.fault }) {
		return o, fmt.Errorf("the fault %q is unknown or not available with --lite", o.fault)
	}
	_, err := chain.FaultByName(o.fault) // before the build, which takes minutes
	return o, err
}

func run(ctx context.Context, o options, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	level := slog.LevelInfo
	if o.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	begin := time.Now()
	if _, err := stack.Binaries(ctx, log, announce(ctx, stdout, o)...); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	c, err := chain.Start(ctx, chain.Options{
		Log: log, WellKnownPorts: true,
		// Short intervals, because users of the demo wait for the results.
		Exporter: map[string]any{"checks": map[string]any{"freshness": "5s", "audit": "30s"}},
		Traces:   o.traces && !o.lite,
		Lite:     o.lite,
		Load:     load.Options{WritesPerSecond: o.writes, Objects: o.objects},
	})
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	defer func() {
		log.Info("stopping")
		err = errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}()
	if o.runFor > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.runFor)
		defer cancel()
	}
	printGuide(stdout, c, o.lite, time.Since(begin))
	if o.churn {
		wait, err := operate(ctx, c, log)
		if err != nil {
			return err
		}
		defer wait()
	}

	s := &stage{chain: c, log: log, lite: o.lite}
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
		select {
		case <-ctx.Done():
			return nil
		case <-end:
			end = nil
			s.restore(ctx)
		case command, open := <-commands:
			if !open {
				commands = nil // the end of standard input does not end the demo
				continue
			}
			s.command(ctx, command)
		}
	}
}

// announce prints how long the start takes, and returns the servers that it needs.
func announce(ctx context.Context, out io.Writer, o options) (servers []string) {
	servers = []string{stack.EtcdProgram, stack.APIServerProgram, stack.PrometheusProgram}
	if !o.lite {
		servers = append(servers, stack.ControllerManagerProgram, stack.AlertmanagerProgram)
		if o.traces {
			servers = append(servers, stack.JaegerProgram)
		}
	}
	missing, took := stack.Missing(ctx, servers...)
	if len(missing) == 0 {
		fmt.Fprintln(out, "All servers are built. The start takes about half a minute, and longer if the programs of this repository are not compiled yet.")
		return servers
	}
	fmt.Fprintf(out, "First start: %d of %d servers are built once, which takes about %v on two cores: %s.\n", len(missing), len(servers), took, strings.Join(missing, ", "))
	return servers
}

// operate runs the operations of a healthy cluster until ctx ends. The returned function stops them and waits for them.
func operate(ctx context.Context, c *chain.Chain, log *slog.Logger) (wait func(), err error) {
	operations, err := churn.New(c, log)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := operations.Run(ctx); err != nil {
			log.Error("operations ended", "err", err)
		}
	}()
	return func() { cancel(); <-ended }, nil
}

// stage holds the active fault.
type stage struct {
	chain *chain.Chain
	log   *slog.Logger
	lite  bool
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
	if s.lite && !slices.ContainsFunc(chain.LiteFaults(), func(f chain.Fault) bool { return f.Name == name }) {
		return fmt.Errorf("the fault %q is not available with --lite", name)
	}
	s.restore(ctx)
	s.log.Info("injecting fault", "fault", fault.Name, "effect", fault.Does, "metrics", fault.Shows, "alert", cmp.Or(fault.Alert, "none"))
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
		s.log.Error("fault not restored", "fault", name, "err", err)
		return
	}
	s.log.Info("fault restored", "fault", name)
}

func lines(r io.Reader) <-chan string {
	ch := make(chan string)
	go func() { // ends with the input or with the program
		defer close(ch)
		for s := bufio.NewScanner(r); s.Scan(); {
			ch <- strings.TrimSpace(s.Text())
		}
	}()
	return ch
}

// endWithParent cancels the context when the parent process has exited: on SIGTERM, `go run` exits without a signal to its
// child.
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
		cancel(errors.New("parent process exited"))
	}()
	return ctx
}
