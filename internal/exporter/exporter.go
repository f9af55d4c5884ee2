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
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// Options for New.
type Options struct {
	// Config says what to watch.
	Config Config
	// REST says where.
	REST *rest.Config
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
	registry   *prometheus.Registry
	observer   *collectors.Observer
	targets    []*target
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
	var disconnect func()
	e, err := newExporter(options, func(observe observeConfig) (client metadata.Interface, err error) {
		userAgent := fmt.Sprintf("%s/%s (%s/%s)", Name, Version(), version.GoOS, version.GoArch)
		client, disconnect, err = newMetadataClient(options.REST, userAgent, observe)
		return client, err
	})
	if err != nil {
		return nil, err
	}
	e.server, e.disconnect = options.REST.Host, disconnect
	return e, nil
}

func newExporter(options Options, connect func(observeConfig) (metadata.Interface, error)) (*Exporter, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.TelemetryPath == "" {
		options.TelemetryPath = DefaultTelemetryPath
	}
	registry, err := newRegistry()
	if err != nil {
		return nil, err
	}
	observer, err := collectors.New(registry, collectors.Options{
		Name: Name, Logger: options.Logger, Tracer: options.Tracer,
		Checks: options.Config.Checks.library(), Limits: options.Config.limits(),
	})
	if err != nil {
		return nil, err
	}
	client, err := connect(observer.WrapConfig)
	if err != nil {
		return nil, err
	}
	e := &Exporter{log: options.Logger, registry: registry, observer: observer, started: time.Now()}
	if e.targets, err = newTargets(options.Config, observer, client, options.Logger); err != nil {
		return nil, err
	}
	if err := registry.Register(newKindUp(e.targets)); err != nil {
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
	ctx, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, t := range e.targets {
		e.running.Go(func() { t.informer.RunWithContext(ctx) })
	}
	e.running.Go(func() { e.announce(ctx) })
}

// announce logs once what came of the start, when each target is synced or has been refused.
func (e *Exporter) announce(ctx context.Context) {
	synced := 0
	for _, t := range e.targets {
		select {
		case <-t.informer.HasSyncedChecker().Done():
			synced++
		case <-t.availability.refusal:
		case <-ctx.Done():
			return
		}
	}
	took := time.Since(e.started)
	if synced == 0 {
		e.log.Error("None of the resources can be watched; not ready until one can", "resources", len(e.targets), "duration", took)
		return
	}
	e.log.Info("Informers have synced", "synced", synced, "refused", len(e.targets)-synced, "duration", took)
}

// Drain makes the exporter report that it is not ready, from now on.
func (e *Exporter) Drain() { e.draining.Store(true) }

// Stop stops the informers and waits until they have, or until ctx ends.
func (e *Exporter) Stop(ctx context.Context) error {
	if e.cancel == nil {
		return nil // never started
	}
	e.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.running.Wait()
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
