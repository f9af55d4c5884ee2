package exporter

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/version"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/check"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/discovery"
	"github.com/informer-exporter/informer-exporter/internal/exporter/election"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
	"github.com/informer-exporter/informer-exporter/internal/exporter/watchcache"
	"github.com/informer-exporter/informer-exporter/internal/exporter/web"
)

// Options for New.
type Options struct {
	// Config selects what to watch. It is ignored if File is set.
	Config config.Config
	// File is the configuration file. It is reloaded when it changes. Optional.
	File *config.File
	// Shard is the part of the configuration that this exporter watches.
	Shard sharding.Shard
	// REST is the client configuration of the cluster.
	REST *rest.Config
	// Election restricts audits to the elected replica. If nil, audits always run.
	Election *election.Election
	// Logger receives log messages. If nil, they are discarded.
	Logger *slog.Logger
	// Tracer starts spans for lists and delivered events. Optional.
	Tracer collectors.Tracer
	// TelemetryPath is the path of metrics. It defaults to web.DefaultTelemetryPath.
	TelemetryPath string
	// Pprof enables /debug/pprof/.
	Pprof bool
}

// Exporter watches a cluster. Its informers run between Start and Stop; Handler can be used at any time.
type Exporter struct {
	log        *slog.Logger
	shard      sharding.Shard
	registry   *prometheus.Registry
	observer   *collectors.Observer
	informers  *informers.Set
	follower   *discovery.Follower
	reloader   *config.Reloader
	candidate  *election.Candidate // nil without an election
	watchCache *watchcache.Checker
	status     *status.Reporter
	server     *web.Server
	disconnect func() // closes all connections to the API server

	cancel  context.CancelFunc
	running sync.WaitGroup
}

// New returns an exporter. It sends no requests before Start.
func New(options Options) (*Exporter, error) {
	userAgent := fmt.Sprintf("%s/%s (%s/%s)", buildinfo.Name, buildinfo.Version(), version.GoOS, version.GoArch)
	return newExporter(options, func(observe client.WrapConfig) (*client.Connection, error) {
		return client.Connect(options.REST, userAgent, observe, options.Logger)
	})
}

func newExporter(options Options, connect func(client.WrapConfig) (*client.Connection, error)) (*Exporter, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.TelemetryPath == "" {
		options.TelemetryPath = web.DefaultTelemetryPath
	}
	if options.File != nil {
		options.Config = options.File.Config()
	}
	registry := web.NewRegistry()
	observer, err := collectors.New(registry, collectors.Options{
		Name: options.Shard.Name(), Logger: options.Logger, Tracer: options.Tracer,
		Limits: collectors.Limits{InformerTypes: config.MaxKinds, WatchNamespaces: config.MaxNamespaces}, Omit: omitted(),
		Detail: collectors.Detail(options.Config.Detail), Histograms: collectors.Histograms(options.Config.Histograms),
	})
	if err != nil {
		return nil, err
	}
	connection, err := connect(func(config *rest.Config) *rest.Config {
		return apiclient.WrapConfig(observer, config, apiclient.Options{CompressedBytes: true})
	})
	if err != nil {
		return nil, err
	}
	e := &Exporter{log: options.Logger, shard: options.Shard, registry: registry, observer: observer, disconnect: connection.Disconnect}
	if err := options.Config.Validate(); err != nil {
		return nil, err
	}
	if options.Election != nil {
		if e.candidate, err = election.New(*options.Election, observer, connection.Leases, options.Logger); err != nil {
			return nil, fmt.Errorf("leader election: %w", err)
		}
	}
	signals, err := objects.New(registry, objects.Options{
		Name: options.Shard.Name(), FirstNamespaces: options.Config.Objects.FirstNamespaces,
		Detail: collectors.Detail(options.Config.Detail), Histograms: collectors.Histograms(options.Config.Histograms),
	})
	if err != nil {
		return nil, err
	}
	making := &informers.Factory{
		Observer: observer, Client: connection.Metadata, Objects: signals, Whole: connection.Whole,
		Logger: options.Logger, Outages: availability.NewOutages(options.Logger),
	}
	e.informers = informers.NewSet(making.New)
	e.watchCache = watchcache.New(connection.ListVersion, e.readable, options.Logger)
	e.follower = discovery.New(discovery.Options{
		Config: options.Config, Shard: options.Shard, Informers: e.informers,
		Client: connection.Metadata, Discover: connection.Discover, Logger: options.Logger,
	})
	making.OnDefinitionsChanged, making.OnUnselected = e.follower.DefinitionsChanged, e.follower.UnselectedReceived
	e.reloader = config.NewReloader(options.File, func(c config.Config) {
		if cmp.Or(c.Detail, config.DetailFull) != cmp.Or(options.Config.Detail, config.DetailFull) {
			options.Logger.Warn("a change of detail takes effect at the next start", "configured", c.Detail, "reported", options.Config.Detail)
		}
		if cmp.Or(c.Histograms, config.HistogramsClassic) != cmp.Or(options.Config.Histograms, config.HistogramsClassic) {
			options.Logger.Warn("a change of histograms takes effect at the next start", "configured", c.Histograms, "reported", options.Config.Histograms)
		}
		if !slices.Equal(c.Objects.FirstNamespaces, options.Config.Objects.FirstNamespaces) {
			options.Logger.Warn("a change of objects.firstNamespaces takes effect at the next start")
		}
		e.follower.Reconfigure(c)
	}, options.Logger)
	e.follower.Apply(context.Background()) // starts with the resources that need no discovery
	e.status = &status.Reporter{
		Name: options.Shard.Name(), Idle: options.Shard.Partial(), Started: time.Now(),
		Observer: observer, Set: e.informers, Discovered: e.follower.Ready, Leading: e.candidate.Leading,
	}
	if options.REST != nil {
		e.status.Server = options.REST.Host
	}
	registerState(registry, e)
	e.server, err = web.New(web.Options{Status: e.status, Registry: registry, Logger: options.Logger, TelemetryPath: options.TelemetryPath, Pprof: options.Pprof})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Start starts the informers and returns. They run until Stop, regardless of ctx, which only carries values. Start must be
// called once.
func (e *Exporter) Start(ctx context.Context) {
	lasting := context.WithoutCancel(ctx)
	ctx, e.cancel = context.WithCancel(lasting)
	e.informers.Run(ctx)
	e.running.Go(func() { e.follower.Run(ctx) })
	e.running.Go(func() { e.reloader.Run(ctx) })
	e.running.Go(func() { e.announce(ctx) })
	e.running.Go(func() { e.watchCache.Run(ctx) })
	if e.candidate != nil {
		e.candidate.Start(lasting)
	}
}

// readable returns the resources that can be listed, each in one of its namespaces.
func (e *Exporter) readable() []watchcache.Scope {
	var scopes []watchcache.Scope
	for _, t := range e.informers.List() {
		if t.Availability.Up() && (len(scopes) == 0 || scopes[len(scopes)-1].Resource != t.Kind.GVR()) {
			scopes = append(scopes, watchcache.Scope{Resource: t.Kind.GVR(), Namespace: t.Namespace})
		}
	}
	return scopes
}

// announce logs the result of the start, once every informer is synced or refused.
func (e *Exporter) announce(ctx context.Context) {
	select {
	case <-e.follower.Ready:
	case <-ctx.Done():
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	synced, all := 0, e.informers.List()
	for _, t := range all {
		select {
		case <-informers.Synced(ctx, t.Shared):
			synced++
		case <-t.Availability.Refusal:
		case <-t.Ended:
		case <-ctx.Done():
			return
		}
	}
	took := time.Since(e.status.Started)
	if len(all) == 0 && e.shard.Partial() {
		e.log.Warn("this shard has nothing to watch; reduce the number of shards", "shard", e.shard)
		return
	}
	if synced == 0 {
		e.log.Error("none of the resources can be watched; not ready until one can", "resources", len(all), "duration", took)
		return
	}
	e.log.Info("informers synced", "synced", synced, "refused", len(all)-synced, "duration", took)
}

// Reload reloads the configuration file. If it is invalid, the last valid configuration stays in use. Without a file it does
// nothing.
func (e *Exporter) Reload() error { return e.reloader.Reload() }

// Drain makes the exporter not ready.
func (e *Exporter) Drain() { e.status.Drain() }

// Stop stops the informers, gives up leadership, and waits until both are done or ctx ends.
func (e *Exporter) Stop(ctx context.Context) error {
	if e.cancel == nil {
		return nil // not started
	}
	e.informers.Stop()
	e.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.running.Wait()
		e.informers.Wait()
		if e.candidate != nil {
			e.candidate.Resign()
		}
	}()
	select {
	case <-done:
		if e.disconnect != nil {
			e.disconnect()
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("informers still running: %w", context.Cause(ctx))
	}
}

// Gatherer returns the registry that /metrics serves.
func (e *Exporter) Gatherer() prometheus.Gatherer { return e.registry }

// Confirmed waits until every informer is refused, or synced and, with audits, audited once with any result. It returns an error
// that lists the others if ctx ends first, and an error if all informers are refused. If an audit found differences or was skipped,
// it also waits for the next audit, for at most the given time: k8s_informer_audit_differences counts only differences that two
// audits found.
func (e *Exporter) Confirmed(ctx context.Context, limit time.Duration) error {
	if err := e.status.Settled(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e.status.Confirmed(ctx)
	return nil
}

// Progress returns the number of informers that are complete in the sense of Confirmed, and the number of all informers.
func (e *Exporter) Progress() (complete, all int) {
	states := e.status.Informers()
	for _, s := range states {
		if s.Complete() {
			complete++
		}
	}
	return complete, len(states)
}

// Check returns the problems that the informers show now.
func (e *Exporter) Check(o check.Options) check.Report {
	return check.Find(e.status.Informers(), e.informers.List(), o)
}

// Handler serves all paths behind filters, the first of which is outermost.
func (e *Exporter) Handler(filters ...func(http.Handler) http.Handler) http.Handler {
	return e.server.Handler(filters...)
}

// HealthHandler serves only the probes, for an address without authentication.
func (e *Exporter) HealthHandler() http.Handler { return e.server.HealthHandler() }

// WrapConfig returns a copy of config that records requests in the exporter's metrics.
func (e *Exporter) WrapConfig(config *rest.Config) *rest.Config {
	return apiclient.WrapConfig(e.observer, config, apiclient.Options{})
}
