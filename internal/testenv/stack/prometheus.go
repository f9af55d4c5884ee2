package stack

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

// PrometheusOptions configure StartPrometheus.
type PrometheusOptions struct {
	// Dir is where configuration, data and log go; the caller's to remove.
	Dir string
	Log *slog.Logger
	// Port on the loopback interface; 0 takes a free one.
	Port    int
	Targets []ScrapeTarget
	// RuleFiles and Alertmanager (host:port, empty for none) are what alerts need.
	RuleFiles    []string
	Alertmanager string
	// ScrapeInterval and EvaluationInterval are 1s unless set: whoever starts a local stack waits for it.
	ScrapeInterval     time.Duration
	EvaluationInterval time.Duration
	// ExternalLabels go onto what leaves this Prometheus: alerts, not the results of queries.
	ExternalLabels map[string]string
	// Args are added after the package's own flags.
	Args []string
}

// ScrapeTarget is what one job scrapes.
type ScrapeTarget struct {
	// Job is the scrape job's name; several targets may not share it.
	Job string
	// Addresses are host:port, one for each instance of the job.
	Addresses []string
	// Path of the metrics; empty is /metrics.
	Path string
	// CAFile makes the target https, verified by that authority; Token authenticates the scrape.
	CAFile string
	Token  string
	// Labels are added to every series of the target.
	Labels map[string]string
	// HonorLabels keeps labels of the target's own that would clash, as the ServiceMonitor of the exporter does.
	HonorLabels bool
}

// Prometheus is a Prometheus server with exemplar storage.
type Prometheus struct {
	*Server
	// URL is the address of its API.
	URL string
}

// StartPrometheus writes a configuration, starts Prometheus with it and waits until it is ready.
func StartPrometheus(ctx context.Context, o PrometheusOptions) (*Prometheus, error) {
	program, err := Binary(ctx, PrometheusProgram, o.Log)
	if err != nil {
		return nil, err
	}
	number, err := portOr(o.Port)
	if err != nil {
		return nil, err
	}
	config, err := yaml.Marshal(o.config())
	if err != nil {
		return nil, fmt.Errorf("writing Prometheus' configuration: %w", err)
	}
	file := filepath.Join(o.Dir, "prometheus.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil { // it may hold tokens
		return nil, err
	}
	p := &Prometheus{URL: "http://" + port.Address(number)}
	args := append([]string{
		"--config.file=" + file,
		"--storage.tsdb.path=" + filepath.Join(o.Dir, "prometheus"),
		"--web.listen-address=" + port.Address(number),
		"--web.external-url=" + p.URL, // the default is a link with the name of this machine
		"--web.enable-lifecycle",
		"--enable-feature=exemplar-storage",
		// An alert that fires before Prometheus has discovered its Alertmanager is sent again only after this delay, which
		// is a minute otherwise.
		"--rules.alert.resend-delay=5s",
	}, o.Args...)
	p.Server = newServer("prometheus", program, o.Dir, args, answers(p.URL+"/-/ready", nil, ""), o.Log)
	return p, p.Start(ctx)
}

func portOr(given int) (int, error) {
	if given != 0 {
		return given, nil
	}
	return port.Free()
}

// The part of Prometheus' configuration that is used here.
type (
	prometheusConfig struct {
		Global    globalConfig    `json:"global"`
		RuleFiles []string        `json:"rule_files,omitempty"`
		Alerting  *alertingConfig `json:"alerting,omitempty"`
		Scrape    []scrapeConfig  `json:"scrape_configs,omitempty"`
	}
	globalConfig struct {
		ScrapeInterval     string            `json:"scrape_interval"`
		ScrapeTimeout      string            `json:"scrape_timeout"`
		EvaluationInterval string            `json:"evaluation_interval"`
		ExternalLabels     map[string]string `json:"external_labels,omitempty"`
	}
	alertingConfig struct {
		Alertmanagers []staticConfigs `json:"alertmanagers"`
	}
	staticConfigs struct {
		Static []staticConfig `json:"static_configs"`
	}
	staticConfig struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels,omitempty"`
	}
	scrapeConfig struct {
		Job           string               `json:"job_name"`
		Scheme        string               `json:"scheme,omitempty"`
		Path          string               `json:"metrics_path,omitempty"`
		HonorLabels   bool                 `json:"honor_labels,omitempty"`
		Authorization *authorizationConfig `json:"authorization,omitempty"`
		TLS           *tlsConfig           `json:"tls_config,omitempty"`
		Static        []staticConfig       `json:"static_configs"`
	}
	authorizationConfig struct {
		Credentials string `json:"credentials"`
	}
	tlsConfig struct {
		CAFile string `json:"ca_file"`
	}
)

func (o PrometheusOptions) config() prometheusConfig {
	scrape := interval(o.ScrapeInterval)
	c := prometheusConfig{
		Global: globalConfig{
			ScrapeInterval:     scrape,
			ScrapeTimeout:      scrape,
			EvaluationInterval: interval(o.EvaluationInterval),
			ExternalLabels:     o.ExternalLabels,
		},
		RuleFiles: o.RuleFiles,
	}
	if o.Alertmanager != "" {
		c.Alerting = &alertingConfig{[]staticConfigs{{[]staticConfig{{Targets: []string{o.Alertmanager}}}}}}
	}
	for _, t := range o.Targets {
		s := scrapeConfig{
			Job: t.Job, Path: t.Path, HonorLabels: t.HonorLabels,
			Static: []staticConfig{{Targets: t.Addresses, Labels: t.Labels}},
		}
		if t.CAFile != "" {
			s.Scheme, s.TLS = "https", &tlsConfig{t.CAFile}
		}
		if t.Token != "" {
			s.Authorization = &authorizationConfig{t.Token}
		}
		c.Scrape = append(c.Scrape, s)
	}
	return c
}

// interval writes a duration as Prometheus reads it: in whole milliseconds, and without Go's 1m0s.
func interval(d time.Duration) string {
	if d <= 0 {
		d = time.Second
	}
	return fmt.Sprintf("%dms", max(d.Milliseconds(), 1))
}
