package chain

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/receiver"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// Well-known ports. The ports of this stack's own programs follow the exporter's.
const (
	prometheusPort   = 9090
	alertmanagerPort = 9093
	exporterPort     = 9958
	loadPort         = 9959
	controllerPort   = 9960 // and the following ones, one per replica
	ownerLabelsPort  = 9963 // and the following ones
	tiersPort        = 9966
)

// readyTimeout limits the waits of Start itself; the servers have their own deadlines.
const readyTimeout = 5 * time.Minute

func (c *Chain) startControlPlane(ctx context.Context) error {
	begin := time.Now()
	plane, err := stack.Start(ctx, stack.Options{Dir: filepath.Join(c.dir, "control-plane"), Log: c.options.Log, ControllerManager: !c.options.Lite})
	if err != nil {
		return err
	}
	c.ControlPlane = plane
	c.onStop(plane.Stop)
	c.keep(plane.Etcd.Server)
	c.keep(plane.APIServer.Server)
	if plane.ControllerManager != nil {
		c.keep(plane.ControllerManager.Server)
	}
	c.Kubeconfig = filepath.Join(c.dir, "kubeconfig")
	if err := stack.WriteKubeconfig(c.Kubeconfig, plane.Config()); err != nil {
		return err
	}
	if c.Proxy, err = faultproxy.Start(plane.APIServer.Address); err != nil {
		return err
	}
	c.onStop(func(context.Context) error { return c.Proxy.Close() })
	c.options.Log.Info("ready", "part", "control plane", "after", time.Since(begin).Round(time.Millisecond))
	return nil
}

// programs are the paths of programs built from this repository.
type programs struct{ exporter, controller, ownerLabels, tiers string }

// buildPrograms compiles the programs, which is fast with a warm build cache.
func buildPrograms(ctx context.Context, lite bool) (p programs, err error) {
	for _, b := range []struct {
		file *string
		path string // of the package, from the root
	}{
		{&p.exporter, "cmd/exporter"},
		{&p.controller, "examples/controller"},
		{&p.ownerLabels, "examples/controller-runtime"}, // a nested module
		{&p.tiers, "examples/controller-runtime/undecorated"},
	} {
		if lite && b.file != &p.exporter {
			continue
		}
		if *b.file, err = stack.Compile(ctx, b.path); err != nil {
			return p, err
		}
	}
	return p, nil
}

// startLoad decorates the informers of the load generator with the library, and serves its metrics.
func (c *Chain) startLoad(ctx context.Context, _ programs) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(promcollectors.NewGoCollector(), promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}))
	tracer, err := c.tracer(ctx)
	if err != nil {
		return err
	}
	observer, err := collectors.New(registry, collectors.Options{
		Name: "load", Logger: c.options.Log, UpstreamMetrics: true, Tracer: tracer,
		Checks: collectors.Checks{Mutations: 10 * time.Second, Memory: 10 * time.Second}, // the exporter runs the others
	})
	if err != nil {
		return err
	}
	direct := apiclient.WrapConfig(observer, c.ControlPlane.Config(), apiclient.Options{})
	if c.writer, err = kubernetes.NewForConfig(direct); err != nil {
		return err
	}
	watcher, err := kubernetes.NewForConfig(c.Proxy.RESTConfig(direct))
	if err != nil {
		return err
	}
	name, err := cache.NewInformerName("load") // released with the factory
	if err != nil {
		return fmt.Errorf("load: another chain runs in this process: %w", err)
	}
	o := c.options.Load
	o.Widgets, o.Log = true, c.options.Log
	if o.Client, err = dynamic.NewForConfig(direct); err != nil {
		return err
	}
	o.Factory = informer.NewSharedInformerFactory(observer, watcher, 30*time.Second, informer.FactoryOptions{InformerName: name})
	o.Handle = func() { time.Sleep(time.Duration(c.handling.Load())) }
	if c.Load, err = load.Start(ctx, o); err != nil {
		name.Release()
		return err
	}
	c.onStop(func(context.Context) error {
		c.SlowHandlers(0) // otherwise the queued events delay the stop
		c.Load.Stop()
		return nil
	})
	if err := warmUp(ctx, observer, o.Factory.Core().V1().ConfigMaps().Lister()); err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	listener, err := net.Listen("tcp", port.Address(c.port(loadPort)))
	if err != nil {
		return err
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}
	server.Start()
	c.onStop(func(context.Context) error { server.Close(); return nil })
	c.LoadURL = server.URL
	return nil
}

// ExporterKubeconfig returns the path of the exporter's kubeconfig, which leads through the fault proxy.
func (c *Chain) ExporterKubeconfig() string { return filepath.Join(c.dir, "exporter.kubeconfig") }

func (c *Chain) startExporter(ctx context.Context, p programs) error {
	kubeconfig := c.ExporterKubeconfig()
	if err := stack.WriteKubeconfig(kubeconfig, c.Proxy.RESTConfig(c.ControlPlane.Config())); err != nil {
		return err
	}
	address := port.Address(c.port(exporterPort))
	if err := c.configureExporter(c.options.Exporter); err != nil {
		return err
	}
	c.ExporterURL = "http://" + address
	var err error
	c.Exporter, err = stack.StartCommand(ctx, stack.Command{
		Name: "exporter", Program: p.exporter, Dir: c.dir, Log: c.options.Log, Env: c.tracingEnv(httpProtocol),
		Args: []string{
			"serve", "--kubeconfig=" + kubeconfig, "--web.listen-address=" + address, "--config.file=" + c.ExporterConfig(),
			"--leader-elect", "--leader-elect.lease-namespace=kube-system", // the only replica leads, and therefore reports all metrics
		},
		Ready: stack.Answers(c.ExporterURL + "/readyz"),
	})
	if err != nil {
		return err
	}
	c.keep(c.Exporter)
	return nil
}

func (c *Chain) startReceiver(context.Context, programs) error {
	c.Receiver = receiver.Start(c.options.Log)
	c.onStop(func(context.Context) error { c.Receiver.Close(); return nil })
	return nil
}

// generate writes rules and routes as a user would, with the webhook receiver behind each route.
func (c *Chain) generate(ctx context.Context, p programs) error {
	config := map[string]any{"grafanaURL": "http://localhost:3000"} // the default address of Grafana, for users who start it
	if c.Receiver != nil {
		config["alertmanager"] = map[string]any{
			"webhookURLs": map[string]string{
				"page": c.Receiver.URL("page"), "ticket": c.Receiver.URL("ticket"), "info": c.Receiver.URL("info"),
			},
			// Alerts should arrive quickly.
			"groupWait": "1s", "groupInterval": "5s",
		}
	}
	if c.Jaeger != nil {
		config["traces"] = map[string]string{"type": "jaeger", "url": c.Jaeger.URL}
	}
	maps.Copy(config, c.options.Generate)
	content, err := yaml.Marshal(config)
	if err != nil {
		return fmt.Errorf("Options.Generate: %w", err)
	}
	file := filepath.Join(c.dir, "generate.yaml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return err
	}
	c.Generated = filepath.Join(c.dir, "generated")
	if out, err := exec.CommandContext(ctx, p.exporter, "generate", "--out", c.Generated, "--config.file", file).CombinedOutput(); err != nil {
		return fmt.Errorf("informer-exporter generate: %w\n%s", err, out)
	}
	return nil
}

func (c *Chain) startAlertmanager(ctx context.Context, _ programs) (err error) {
	c.Alertmanager, err = stack.StartAlertmanager(ctx, stack.AlertmanagerOptions{
		Dir: c.dir, Log: c.options.Log, Port: c.port(alertmanagerPort),
		ConfigFile: filepath.Join(c.Generated, "alertmanager", "alertmanager.yaml"),
	})
	if err != nil {
		return err
	}
	c.keep(c.Alertmanager.Server)
	return nil
}

func (c *Chain) startPrometheus(ctx context.Context, _ programs) (err error) {
	plane, token := c.ControlPlane, c.ControlPlane.Config().BearerToken
	labels := map[string]string{"cluster": Cluster}
	targets := []stack.ScrapeTarget{
		{Job: "informer-exporter", Addresses: []string{hostPort(c.ExporterURL)}, Labels: labels, HonorLabels: true},
		{Job: "load", Addresses: []string{hostPort(c.LoadURL)}, Labels: labels},
		// 22,000 samples, which take more than a second on a busy machine.
		{Job: "apiserver", Addresses: []string{plane.APIServer.Address}, CAFile: plane.CAFile(), Token: token, Labels: labels, Interval: max(5*time.Second, c.options.Interval)},
	}
	alertmanager := ""
	if !c.options.Lite {
		targets = append(targets,
			stack.ScrapeTarget{Job: "owner-labels", Addresses: addresses(c.OwnerLabels), Labels: labels},
			stack.ScrapeTarget{Job: "tiers", Addresses: addresses([]*Replica{c.Tiers}), Labels: labels},
			stack.ScrapeTarget{Job: "widgets", Addresses: addresses(c.Replicas), Labels: labels},
			stack.ScrapeTarget{Job: "kube-controller-manager", Addresses: []string{plane.ControllerManager.Address}, CAFile: plane.CAFile(), Token: token, Labels: labels})
		alertmanager = c.Alertmanager.Address
	}
	instances := 0
	for _, t := range targets {
		instances += len(t.Addresses)
	}
	c.Prometheus, err = stack.StartPrometheus(ctx, stack.PrometheusOptions{
		Dir: c.dir, Log: c.options.Log, Port: c.port(prometheusPort), Targets: targets,
		RuleFiles:      []string{filepath.Join(c.Generated, "prometheus", "rules.yaml")},
		Alertmanager:   alertmanager,
		ScrapeInterval: c.options.Interval, EvaluationInterval: c.options.Interval,
	})
	if err != nil {
		return err
	}
	c.keep(c.Prometheus.Server)
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	// Not all at the same time: on a busy machine, a leader may lose its lock and restart.
	_, err = c.Prometheus.WaitQuery(ctx, "max_over_time(up[5m]) == 1", func(up []stack.Sample) bool { return len(up) == instances })
	return err
}

func hostPort(url string) string { return url[len("http://"):] }
