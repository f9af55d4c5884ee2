package stack

import (
	"cmp"
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
	// Dir is the directory for configuration, data and log. The caller removes it.
	Dir string
	Log *slog.Logger
	// Port on loopback; 0 uses a free one.
	Port    int
	Targets []ScrapeTarget
	// RuleFiles and Alertmanager (host:port, empty for none) are needed for alerts.
	RuleFiles    []string
	Alertmanager string
	// ScrapeInterval and EvaluationInterval default to 1s, because users of a local stack wait for the results.
	ScrapeInterval     time.Duration
	EvaluationInterval time.Duration
	// ExternalLabels are added to alerts, not to the results of queries.
	ExternalLabels map[string]string
	// Args follow the package's own flags.
	Args []string
}

// ScrapeTarget is the target of one job.
type ScrapeTarget struct {
	// Job is the name of the scrape job, which must be unique.
	Job string
	// Addresses are host:port, one per instance of the job.
	Addresses []string
	// Path of the metrics; defaults to /metrics.
	Path string
	// CAFile enables HTTPS, verified with this certificate authority. Token authenticates the scrape.
	CAFile string
	Token  string
	// Labels are added to every series of the target.
	Labels map[string]string
	// HonorLabels keeps the target's own labels on conflict, as the exporter's ServiceMonitor does.
	HonorLabels bool
	// NativeHistograms stores all histograms as native ones: it scrapes those that the target has, and converts the others.
	NativeHistograms bool
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
	number := cmp.Or(o.Port, port.Free())
	config, err := yaml.Marshal(o.config())
	if err != nil {
		return nil, fmt.Errorf("write Prometheus' configuration: %w", err)
	}
	file := filepath.Join(o.Dir, "prometheus.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil { // it may contain tokens
		return nil, err
	}
	p := &Prometheus{URL: "http://" + port.Address(number)}
	args := append([]string{
		"--config.file=" + file,
		"--storage.tsdb.path=" + filepath.Join(o.Dir, "prometheus"),
		"--web.listen-address=" + port.Address(number),
		"--web.external-url=" + p.URL, // the default is derived from the host name
		"--web.enable-lifecycle",
		"--enable-feature=exemplar-storage",
		// An alert that fires before Prometheus has discovered its Alertmanager is resent only after this delay, by
		// default a minute.
		"--rules.alert.resend-delay=5s",
	}, o.Args...)
	p.Server = newServer(Command{Name: "prometheus", Program: program, Args: args, Dir: o.Dir, Ready: answers(p.URL+"/-/ready", nil, ""), Log: o.Log})
	return p, p.Start(ctx)
}

// The subset of Prometheus' configuration that is used here.
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
		Native        bool                 `json:"scrape_native_histograms,omitempty"`
		Convert       bool                 `json:"convert_classic_histograms_to_nhcb,omitempty"`
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
			Job: t.Job, Path: t.Path, HonorLabels: t.HonorLabels, Native: t.NativeHistograms, Convert: t.NativeHistograms,
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

// interval formats a duration for Prometheus: in whole milliseconds, without Go's 1m0s.
func interval(d time.Duration) string {
	if d <= 0 {
		d = time.Second
	}
	return fmt.Sprintf("%dms", max(d.Milliseconds(), 1))
}
