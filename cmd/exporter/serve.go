package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/exporter-toolkit/web"
	webflag "github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"github.com/informer-exporter/informer-exporter/internal/exporter"
	"github.com/informer-exporter/informer-exporter/tracing"
)

const defaultListenAddress = ":9958"

// serveFlags are the flags of serve.
type serveFlags struct {
	logging       *promslog.Config
	web           *web.FlagConfig
	telemetryPath string
	pprof         bool
	configFile    string
	kubeconfig    string
}

// registerServe adds the command that is run unless another one is named.
func registerServe(app *kingpin.Application, logging *promslog.Config) (name string, serve command) {
	cmd := app.Command("serve", "Watch the cluster and serve metrics (the default command).").Default()
	flags := &serveFlags{logging: logging, web: webflag.AddFlags(cmd, defaultListenAddress)}
	cmd.Flag("web.telemetry-path", "Path under which to expose metrics.").
		Default(exporter.DefaultTelemetryPath).StringVar(&flags.telemetryPath)
	cmd.Flag("web.enable-pprof", "Serve profiles under /debug/pprof/, behind the same authentication as everything else.").
		BoolVar(&flags.pprof)
	cmd.Flag("config.file", "Path to the configuration file that says what to watch. It is read again when it changes and on SIGHUP. Without one, the common kinds and all custom resources are watched in all namespaces.").
		StringVar(&flags.configFile)
	cmd.Flag("kubeconfig", "Path to the kubeconfig of the cluster. Without one, $KUBECONFIG is used and, if that is not set, the service account of the pod.").
		StringVar(&flags.kubeconfig)
	return cmd.FullCommand(), flags.serve
}

// serve runs the exporter until ctx ends or the web server fails.
func (f *serveFlags) serve(ctx context.Context) error {
	collectEarlier()
	log := newLogger(f.logging)
	file, err := exporter.OpenConfig(f.configFile)
	if err != nil {
		return err
	}
	// A broken web configuration should not wait for the first request.
	if err := web.Validate(*f.web.WebConfigFile); err != nil {
		return fmt.Errorf("--web.config.file %s: %w", *f.web.WebConfigFile, err)
	}
	rest, err := exporter.RESTConfig(f.kubeconfig)
	if err != nil {
		return err
	}
	provider, err := tracing.Setup(ctx, tracing.Config{ServiceName: exporter.Name, ServiceVersion: exporter.Version(), Logger: log})
	if err != nil {
		return err
	}
	options := exporter.Options{File: file, REST: rest, Logger: log, TelemetryPath: f.telemetryPath, Pprof: f.pprof}
	if provider.Enabled() {
		options.Tracer = tracing.NewTracer(provider)
	}
	exp, err := exporter.New(options)
	if err != nil {
		return errors.Join(err, provider.Shutdown(ctx))
	}
	stopReloading := reloadOnHangup(exp)
	defer stopReloading()
	log.Info("Starting", "version", exporter.Version(), "api_server", rest.Host, "tracing", provider.Enabled())

	server := &http.Server{
		Handler:           exp.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
	}
	served := make(chan error, 1)
	go func() {
		defer close(served)
		served <- web.ListenAndServe(server, f.web, log)
	}()
	exp.Start(ctx)

	var failed error
	select {
	case <-ctx.Done():
		log.Info("Shutting down", "cause", context.Cause(ctx))
	case err := <-served:
		failed = fmt.Errorf("--web.listen-address: the web server ended: %w", err)
		log.Error("The web server ended; shutting down", "err", err)
	}
	// First nothing more comes in, then what is under way is finished, then what produces it stops, then what it left is
	// sent off. Informers hold no lock of the cluster that would have to be released.
	return errors.Join(failed, shutdown(log,
		step{"report not ready", 0, func(context.Context) error { exp.Drain(); return nil }},
		step{"stop the web server", 5 * time.Second, func(ctx context.Context) error { return stopServer(ctx, server, served) }},
		step{"stop the informers", 10 * time.Second, exp.Stop},
		step{"send the last traces", 5 * time.Second, provider.Shutdown},
	))
}

// stopServer lets requests finish that are being answered, and cuts them off when ctx ends. It waits for the goroutine
// that closes served.
func stopServer(ctx context.Context, server *http.Server, served <-chan error) error {
	err := server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	for range served {
	}
	return err
}
