package main

import (
	"context"
	"errors"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"

	"github.com/informer-exporter/informer-exporter/internal/exporter"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/tracing"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	logging  *promslog.Config
	web      *webFlags
	cluster  *clusterFlags
	shard    shardFlag
	election *electionFlags
	memory   *memoryFlags
}

// clusterFlags say what to watch and where.
type clusterFlags struct {
	configFile string
	kubeconfig string
}

func registerCluster(cmd *kingpin.CmdClause) *clusterFlags {
	f := &clusterFlags{}
	cmd.Flag("config.file", "Path to the configuration file that says what to watch. It is read again when it changes and on SIGHUP. Without one, the common kinds and all custom resources are watched in all namespaces.").
		StringVar(&f.configFile)
	cmd.Flag("kubeconfig", "Path to the kubeconfig of the cluster. Without one, $KUBECONFIG is used and, if that is not set, the service account of the pod.").
		StringVar(&f.kubeconfig)
	return f
}

// registerServe adds the command that is run unless another one is named.
func registerServe(app *kingpin.Application, logging *promslog.Config) (name string, serve command) {
	cmd := app.Command("serve", "Watch the cluster and serve metrics (the default command).").Default()
	flags := &serveFlags{logging: logging, web: registerWeb(cmd), cluster: registerCluster(cmd), election: registerElection(cmd), memory: registerMemory(cmd)}
	cmd.Flag("shard", "Which part of the resources to watch when several exporters share them: the number of this one, from 0, and how many there are, such as 0/3. Without it, all of them.").
		PlaceHolder("NUMBER/SHARDS").SetValue(&flags.shard)
	return cmd.FullCommand(), flags.serve
}

// serve runs the exporter until ctx ends or a web server fails.
func (f *serveFlags) serve(ctx context.Context) error {
	collectEarlier()
	log := newLogger(f.logging)
	file, err := config.Open(f.cluster.configFile)
	if err != nil {
		return err
	}
	if err := errors.Join(f.web.validate(), f.memory.validate()); err != nil {
		return err
	}
	election, err := f.election.election(f.shard.Shard)
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
	options := exporter.Options{File: file, Shard: f.shard.Shard, REST: rest, Election: election, Logger: log, TelemetryPath: f.web.telemetryPath, Pprof: f.web.pprof}
	if provider.Enabled() {
		options.Tracer = tracing.NewTracer(provider)
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
	log.Info("Starting", "version", buildinfo.Version(), "api_server", rest.Host, "shard", f.shard, "tracing", provider.Enabled(), "kubernetes_auth", f.web.kubernetesAuth)
	main := f.web.startMain(exp.Handler(protect), log)
	exp.Start(ctx)

	var failed error
	select {
	case <-ctx.Done():
		log.Info("Shutting down", "cause", context.Cause(ctx))
	case failed = <-main.failed():
	case failed = <-health.failed():
	}
	if failed != nil {
		log.Error("A web server ended; shutting down", "err", failed)
	}
	// First nothing more comes in, then what is under way is finished, then what produces it stops and lets another replica
	// lead, then what it left is sent off.
	return errors.Join(failed, shutdown(log,
		step{"report not ready", 0, func(context.Context) error { exp.Drain(); return nil }},
		step{"stop the web server", 5 * time.Second, main.stop},
		step{"stop the informers", 10 * time.Second, exp.Stop},
		step{"send the last traces", 5 * time.Second, provider.Shutdown},
		step{"stop answering probes", time.Second, func(ctx context.Context) error { closeFilter(); return health.stop(ctx) }},
	))
}
