package exporter

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/version"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// Options for New.
type Options struct {
	// Config says what to watch. It is not used if there is a File.
	Config Config
	// File is the configuration file, which is read again when it changes. Nil: there is none.
	File *ConfigFile
	// Shard is which part of that this exporter watches.
	Shard Shard
	// REST says where.
	REST *rest.Config
	// Election lets this exporter make audits only while it is elected. Nil: always.
	Election *Election
	// Logger is where the exporter writes. Nil: nowhere.
	Logger *slog.Logger
	// Tracer follows delivered events. Nil: nobody does.
	Tracer collectors.Tracer
	// TelemetryPath is where metrics are served. Empty: DefaultTelemetryPath.
	TelemetryPath string
	// Pprof serves profiles under /debug/pprof/.
	Pprof bool
}

// Exporter watches a cluster. Between Start and Stop its informers run; Handler serves what they report at any time.
type Exporter struct {
	log        *slog.Logger
	shard      Shard
	registry   *prometheus.Registry
	observer   *collectors.Observer
	targets    *set
	follower   *follower
	reloader   *reloader
	candidate  *candidate // nil without an election
	handler    http.Handler
	server     string // address of the API server
	disconnect func() // closes the connections to it

	started  time.Time
	ready    atomic.Bool // has been ready once
	draining atomic.Bool
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// New prepares an exporter. Nothing is sent to the API server before Start.
func New(options Options) (*Exporter, error) {
	userAgent := fmt.Sprintf("%s/%s (%s/%s)", Name, Version(), version.GoOS, version.GoArch)
	return newExporter(options, func(observe observeConfig) (*connection, error) { return connect(options.REST, userAgent, observe) })
}

func newExporter(options Options, connect func(observeConfig) (*connection, error)) (*Exporter, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.TelemetryPath == "" {
		options.TelemetryPath = DefaultTelemetryPath
	}
	if options.File != nil {
		options.Config = options.File.Config()
	}
	registry, err := newRegistry()
	if err != nil {
		return nil, err
	}
	observer, err := collectors.New(registry, collectors.Options{
		Name: options.Shard.Name(), Logger: options.Logger, Tracer: options.Tracer,
		Limits: collectors.Limits{InformerTypes: maxKinds, Namespaces: maxNamespaces},
	})
	if err != nil {
		return nil, err
	}
	connection, err := connect(observer.WrapConfig)
	if err != nil {
		return nil, err
	}
	e := &Exporter{log: options.Logger, shard: options.Shard, registry: registry, observer: observer, disconnect: connection.disconnect, started: time.Now()}
	if options.REST != nil {
		e.server = options.REST.Host
	}
	if err := options.Config.Validate(); err != nil {
		return nil, err
	}
	if options.Election != nil {
		if e.candidate, err = newCandidate(*options.Election, observer, connection.leases, options.Logger); err != nil {
			return nil, fmt.Errorf("the election of the leader: %w", err)
		}
	}
	signals, err := newSignals(registry, observer, options.Shard.Name(), connection.whole)
	if err != nil {
		return nil, err
	}
	e.targets = &set{}
	e.follower = newFollower(options.Config, options.Shard, e.targets, connection.metadata, options.Logger)
	e.targets.newTarget = func(s subject) (*target, error) {
		return newTarget(s, observer, connection.metadata, signals, options.Logger, e.follower.definitionsChanged, e.follower.partIgnored)
	}
	e.reloader = newReloader(options.File, e.follower.reconfigure, options.Logger)
	e.follower.apply(context.Background()) // what needs no answer of the API server
	e.follower.discover = connection.discover
	if err := registerState(registry, e); err != nil {
		return nil, err
	}
	if e.handler, err = e.newHandler(options); err != nil {
		return nil, err
	}
	return e, nil
}

// Start starts the informers. They run until Stop, not until ctx ends, so that the order of a shutdown is the caller's;
// ctx only carries values. Start must be called once.
func (e *Exporter) Start(ctx context.Context) {
	lasting := context.WithoutCancel(ctx)
	ctx, e.cancel = context.WithCancel(lasting)
	e.targets.run(ctx)
	e.running.Go(func() { e.follower.follow(ctx) })
	e.running.Go(func() { e.reloader.follow(ctx) })
	e.running.Go(func() { e.announce(ctx) })
	if e.candidate != nil {
		e.candidate.start(lasting)
	}
}

// announce logs once what came of the start, when each target is synced or has been refused.
func (e *Exporter) announce(ctx context.Context) {
	select {
	case <-e.follower.attempted:
	case <-ctx.Done():
		return
	}
	synced, targets := 0, e.targets.list()
	for _, t := range targets {
		select {
		case <-t.informer.HasSyncedChecker().Done():
			synced++
		case <-t.availability.refusal:
		case <-t.ended:
		case <-ctx.Done():
			return
		}
	}
	took := time.Since(e.started)
	if len(targets) == 0 && e.shard.partial() {
		e.log.Warn("Nothing of what is to be watched falls to this shard; there are more shards than are of use", "shard", e.shard)
		return
	}
	if synced == 0 {
		e.log.Error("None of the resources can be watched; not ready until one can", "resources", len(targets), "duration", took)
		return
	}
	e.log.Info("Informers have synced", "synced", synced, "refused", len(targets)-synced, "duration", took)
}

// Reload reads the configuration file again and puts it in force, without waiting for the informers. If it cannot be used,
// the configuration before it stays. Without a file it does nothing.
func (e *Exporter) Reload() error { return e.reloader.reload() }

// Drain makes the exporter report that it is not ready, from now on.
func (e *Exporter) Drain() { e.draining.Store(true) }

// Stop stops the informers, then lets others be elected, and waits until that is done, or until ctx ends.
func (e *Exporter) Stop(ctx context.Context) error {
	if e.cancel == nil {
		return nil // never started
	}
	e.targets.stop()
	e.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.running.Wait()
		e.targets.wait()
		if e.candidate != nil {
			e.candidate.resign()
		}
	}()
	select {
	case <-done:
		if e.disconnect != nil {
			e.disconnect()
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("informers still run: %w", context.Cause(ctx))
	}
}

// Gatherer returns what /metrics serves.
func (e *Exporter) Gatherer() prometheus.Gatherer { return e.registry }
