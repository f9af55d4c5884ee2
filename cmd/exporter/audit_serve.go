package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/common/promslog"
	toolkit "github.com/prometheus/exporter-toolkit/web"
	"github.com/spf13/cobra"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/live"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/metrics"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/exporter/web"
)

// webhookPath is the path of the audit webhook.
const webhookPath = "/audit"

// auditServeFlags are the flags of audit serve.
type auditServeFlags struct {
	web     *webFlags
	logging *promslog.Config
	memory  *memoryFlags
	options live.Options
	webhook bool
}

// auditServeCommand returns the command audit serve.
func auditServeCommand(stderr io.Writer) *cobra.Command {
	cmd := newCommand("serve", "Observe the clients of API servers by their audit logs and serve metrics: early ends of watches, relists of informers, loops of writes. Reads log files, or events that API servers send to the path "+webhookPath+". Needs no access to the API server.")
	f := &auditServeFlags{web: &webFlags{toolkit: registerToolkit(cmd.Flags())}}
	cmd.Flags().StringVar(&f.web.telemetryPath, "web.telemetry-path", web.DefaultTelemetryPath, "`PATH` under which to expose metrics.")
	cmd.Flags().StringVar(&f.web.healthAddress, "web.health-address", "", "Also serve /livez, /readyz and /healthz on this `ADDRESS`, such as :9959, without authentication and TLS, for the kubelet.")
	cmd.Flags().StringArrayVar(&f.options.Files, "log.file", nil, "Audit log `FILE` to follow, also after its rotation. Repeatable.")
	cmd.Flags().StringVar(&f.options.PositionDir, "log.position-dir", "", "Existing `DIRECTORY` for the positions in the logs, from which a restart continues. Without it, a restart continues at their ends.")
	cmd.Flags().BoolVar(&f.webhook, "webhook", false, "Receive events from the audit webhooks of API servers at "+webhookPath+". Senders need a client certificate that --web.config.file verifies, or a token.")
	cmd.Flags().StringVar(&f.options.TokenFile, "webhook.token-file", "", "`FILE` with the bearer token that senders have instead of a client certificate.")
	cmd.Flags().IntVar(&f.options.Clients, "limit.clients", 200, "Most clients that are told apart; others are counted as one.")
	cmd.Flags().IntVar(&f.options.Series, "limit.series", metrics.Series, "Most series of clients; others are counted as one client.")
	f.memory, f.logging = registerMemory(cmd.Flags()), registerLogging(cmd.Flags(), stderr)
	execute(cmd, func(ctx context.Context, _ []string, _ io.Writer) error { return f.serve(ctx) })
	return cmd
}

func (f *auditServeFlags) validate() error {
	switch {
	case len(f.options.Files) == 0 && !f.webhook:
		return usageError{errors.New("--log.file or --webhook is required")}
	case f.options.TokenFile != "" && !f.webhook:
		return usageError{errors.New("--webhook.token-file needs --webhook")}
	case f.options.PositionDir != "" && len(f.options.Files) == 0:
		return usageError{errors.New("--log.position-dir needs --log.file")}
	case f.options.Clients <= 0 || f.options.Series <= 0:
		return usageError{errors.New("--limit.clients and --limit.series must be positive")}
	}
	if err := toolkit.Validate(*f.web.toolkit.WebConfigFile); err != nil {
		return fmt.Errorf("--web.config.file %s: %w", *f.web.toolkit.WebConfigFile, err)
	}
	return f.memory.validate()
}

// serve observes until ctx ends or a web server fails.
func (f *auditServeFlags) serve(ctx context.Context) error {
	log := newLogger(f.logging)
	if err := f.validate(); err != nil {
		return err
	}
	f.memory.apply(ctx, log)
	f.options.Logger = log
	observer, err := live.New(f.options)
	if err != nil {
		return err
	}
	handler, probes, err := f.handlers(observer, log)
	if err != nil {
		return err
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	if err := observer.Start(following); err != nil {
		return err
	}
	health, err := f.web.startHealth(probes, log)
	if err != nil {
		return err
	}
	log.Info("starting", "version", buildinfo.Version(), "files", f.options.Files, "webhook", f.webhook)
	main := f.web.startMain(handler, log)
	var failed error
	select {
	case <-ctx.Done():
		log.Info("shutting down", "cause", context.Cause(ctx))
	case failed = <-main.failed():
	case failed = <-health.failed():
	}
	return errors.Join(failed, shutdown(log,
		step{"stop web server", 5 * time.Second, main.stop},
		step{"save positions", 0, func(context.Context) error { stop(); return observer.Wait() }},
		step{"stop probes", time.Second, health.stop},
	))
}

// handlers return a handler of metrics, probes and the webhook, which has limits of its own, and one of the probes.
func (f *auditServeFlags) handlers(observer *live.Observer, log *slog.Logger) (all, probes http.Handler, err error) {
	registry := web.NewRegistry()
	registry.MustRegister(observer.Collector())
	plain, probes, err := web.Plain(web.Options{Registry: registry, Logger: log, TelemetryPath: f.web.telemetryPath})
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", plain)
	if f.webhook {
		mux.Handle(webhookPath, observer.Webhook())
	}
	return mux, probes, nil
}
