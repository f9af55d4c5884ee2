// The example is a whole controller on client-go and this library, to copy from: leader election, a work queue with
// retries, a finalizer, status updates, an orderly shutdown, and all of it observed. It gives each Widget (widgets.yaml) a
// ConfigMap with its content. Widgets can ask for failures, so that retries, back-off and stuck deletions can be watched.
//
//	kubectl apply -f examples/controller/widgets.yaml
//	go run ./examples/controller --kubeconfig ~/.kube/config
//
// The map: main.go has flags and signals, controller.go what makes a replica a leader and what a leader does,
// reconcile.go and clean_up.go the work itself, widget.go the type, web.go metrics and health.
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
)

// program names the controller's metrics, its queue and its Lease.
const program = "widgets"

type options struct {
	kubeconfig string
	address    string
	namespace  string
	identity   string
	workers    int
	maxRetries int
	backoff    time.Duration
	cleanUp    time.Duration
	grace      time.Duration
	lease      time.Duration
}

func main() {
	var o options
	app := kingpin.New("controller", "Give each Widget a ConfigMap with its content.")
	app.Flag("kubeconfig", "Access to the API server; without it, that of the Pod.").StringVar(&o.kubeconfig)
	app.Flag("web.listen-address", "Address of /metrics and /healthz.").Default(":9960").StringVar(&o.address)
	app.Flag("namespace", "Namespace of the Lease.").Default("default").StringVar(&o.namespace)
	app.Flag("identity", "Name of this replica in the Lease, by default the host's; something unique is added.").StringVar(&o.identity)
	app.Flag("workers", "Widgets that are reconciled at a time.").Default("2").IntVar(&o.workers)
	app.Flag("max-retries", "Retries of a Widget before it is given up until it changes.").Default("10").IntVar(&o.maxRetries)
	app.Flag("max-backoff", "Longest wait between two retries.").Default("30s").DurationVar(&o.backoff)
	app.Flag("clean-up-deadline", "How long a clean-up may take.").Default("30s").DurationVar(&o.cleanUp)
	app.Flag("grace-period", "The terminationGracePeriodSeconds of the Pod, a tenth of which is kept for the end of the program.").Default("30s").DurationVar(&o.grace)
	app.Flag("lease-duration", "How long after its last renewal a dead leader is replaced.").Default("15s").DurationVar(&o.lease)
	kingpin.MustParse(app.Parse(os.Args[1:]))
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
	o.identity += "_" + string(uuid.NewUUID()) // a process is not its predecessor: it must not take over what that one holds
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(promcollectors.NewGoCollector(), promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}))
	obs, err := collectors.New(registry, collectors.Options{Name: program, UpstreamMetrics: true})
	if err != nil {
		return err
	}
	leaderelection.SetProvider(obs.LeaderMetricsProvider()) // client-go's own metrics, which are the process's
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
