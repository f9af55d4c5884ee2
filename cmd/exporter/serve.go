package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/prometheus/common/promslog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/informer-exporter/informer-exporter/internal/exporter"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
	"github.com/informer-exporter/informer-exporter/tracing"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	logging  *promslog.Config
	web      *webFlags
	cluster  *clusterFlags
	shard    sharding.Shard
	election *electionFlags
	memory   *memoryFlags
}

// clusterFlags configure what to watch and where.
type clusterFlags struct {
	configFile string
	kubeconfig string
}

func registerCluster(flags *pflag.FlagSet) *clusterFlags {
	f := &clusterFlags{}
	flags.StringVar(&f.configFile, "config.file", "", "Configuration `FILE`, which serve reloads when it changes and on SIGHUP. Defaults to common and all custom resources.")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "Kubeconfig `FILE`. Defaults to $KUBECONFIG, then to the service account of the Pod.")
	return f
}

// serveCommand returns the default command.
func serveCommand(stderr io.Writer) *cobra.Command {
	cmd := newCommand("serve", "Watch the cluster and serve metrics (the default command).")
	f := &serveFlags{web: registerWeb(cmd.Flags()), cluster: registerCluster(cmd.Flags())}
	cmd.Flags().Func("shard", "Watch only the shard `ORDINAL/SHARDS` of the resources, such as 0/3 for the first of three. Defaults to all resources.", func(text string) (err error) {
		f.shard, err = sharding.Parse(text)
		return err
	})
	f.election, f.memory, f.logging = registerElection(cmd.Flags()), registerMemory(cmd.Flags()), registerLogging(cmd.Flags(), stderr)
	execute(cmd, func(ctx context.Context, _ []string, _ io.Writer) error { return f.serve(ctx) })
	return cmd
}

// serve runs the exporter until ctx ends or a web server fails.
func (f *serveFlags) serve(ctx context.Context) error {
	setGCPercent()
	log := newLogger(f.logging)
	file, err := config.Open(f.cluster.configFile)
	if err != nil {
		return err
	}
	if err := errors.Join(f.web.validate(), f.memory.validate()); err != nil {
		return err
	}
	election, err := f.election.election(f.shard)
	if err != nil {
		return err
	}
	rest, err := client.RESTConfig(f.cluster.kubeconfig)
	if err != nil {
		return err
	}
	provider, err := tracing.Setup(ctx, tracing.Config{ServiceName: buildinfo.Name, ServiceVersion: buildinfo.Version(), Logger: log})
	if err != nil {
		return err
	}
	options := exporter.Options{File: file, Shard: f.shard, REST: rest, Election: election, Logger: log, TelemetryPath: f.web.telemetryPath, Pprof: f.web.pprof}
	if provider.Enabled() {
		options.Tracer = tracing.NewTracer(provider, tracing.TracerOptions{})
	}
	f.memory.apply(ctx, log)
	exp, err := exporter.New(options)
	if err != nil {
		return errors.Join(err, provider.Shutdown(ctx))
	}
	stopReloading := reloadOnHangup(exp)
	defer stopReloading()
	protect, closeFilter, err := f.web.filter(exp.WrapConfig(rest), log)
	if err != nil {
		return errors.Join(err, provider.Shutdown(ctx))
	}
	health, err := f.web.startHealth(exp.HealthHandler(), log)
	if err != nil {
		return errors.Join(err, provider.Shutdown(ctx))
	}
	log.Info("starting", "version", buildinfo.Version(), "api_server", rest.Host, "shard", f.shard, "tracing", provider.Enabled(), "kubernetes_auth", f.web.kubernetesAuth)
	main := f.web.startMain(exp.Handler(protect), log)
	exp.Start(ctx)

	var failed error
	select {
	case <-ctx.Done():
		log.Info("shutting down", "cause", context.Cause(ctx))
	case failed = <-main.failed():
	case failed = <-health.failed():
	}
	if failed != nil {
		log.Error("web server failed; shutting down", "err", failed)
	}
	// Stop accepting scrapes, stop the informers and release leadership, then flush traces. Probes are served until the end.
	return errors.Join(failed, shutdown(log,
		step{"report not ready", 0, func(context.Context) error { exp.Drain(); return nil }},
		step{"stop web server", 5 * time.Second, main.stop},
		step{"stop informers", 10 * time.Second, exp.Stop},
		step{"flush traces", 5 * time.Second, provider.Shutdown},
		step{"stop probes", time.Second, func(ctx context.Context) error { closeFilter(); return health.stop(ctx) }},
	))
}
