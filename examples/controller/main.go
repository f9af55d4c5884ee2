package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/tracing"
)

// program is the name of the program, its controller, its queue and its Lease.
const program = "widgets"

type options struct {
	kubeconfig string
	address    string
	namespace  string
	identity   string
	workers    int
	maxRetries int
	backoff    time.Duration
	cleanup    time.Duration
	grace      time.Duration
	lease      time.Duration
}

func main() {
	var o options
	app := kingpin.New("controller", "Give each Widget a ConfigMap with its content.")
	app.Flag("kubeconfig", "Path of the kubeconfig. The default is the configuration of the Pod.").StringVar(&o.kubeconfig)
	app.Flag("web.listen-address", "Address of /metrics and /healthz.").Default(":9960").StringVar(&o.address)
	app.Flag("namespace", "Namespace of the Lease.").Default("default").StringVar(&o.namespace)
	app.Flag("identity", "Name of this replica in the Lease, to which a unique suffix is added. The default is the host name.").StringVar(&o.identity)
	app.Flag("workers", "Maximum number of concurrent reconciles.").Default("2").IntVar(&o.workers)
	app.Flag("max-retries", "Number of retries before a Widget is dropped until its next event.").Default("10").IntVar(&o.maxRetries)
	app.Flag("max-backoff", "Maximum backoff between two retries.").Default("30s").DurationVar(&o.backoff)
	app.Flag("cleanup-deadline", "Timeout of a cleanup, and the age from which it is overdue.").Default("30s").DurationVar(&o.cleanup)
	app.Flag("grace-period", "The terminationGracePeriodSeconds of the Pod.").Default("30s").DurationVar(&o.grace)
	app.Flag("lease-duration", "Time without a renewal after which a leader is replaced.").Default("15s").DurationVar(&o.lease)
	kingpin.MustParse(app.Parse(os.Args[1:]))
	slog.SetDefault(slog.New(tracing.NewLogHandler(slog.NewTextHandler(os.Stderr, nil)))) // with the trace ID of the context
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		slog.Error(err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		o.identity = host
	}
	o.identity += "_" + string(uuid.NewUUID()) // a process must not take over the lock of its predecessor
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(promcollectors.NewGoCollector(), promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}))
	provider, err := tracing.Setup(ctx, tracing.Config{ServiceName: program, Logger: slog.Default()}) // from OTEL_* variables
	if err != nil {
		return err
	}
	defer func() { _ = provider.Shutdown(context.WithoutCancel(ctx)) }()
	tracer := tracing.NewTracer(provider, tracing.TracerOptions{})
	obs, err := collectors.New(registry, collectors.Options{Name: program, UpstreamMetrics: true, Tracer: tracer})
	if err != nil {
		return err
	}
	leaderelection.SetProvider(leader.NewMetricsProvider(obs)) // client-go's own metrics, for the whole process
	stopWeb, err := serve(o.address, registry)
	if err != nil {
		return fmt.Errorf("--web.listen-address: %w", err)
	}
	defer stopWeb()
	c, err := newController(obs, config, o)
	if err != nil {
		return err
	}
	return c.run(ctx)
}
