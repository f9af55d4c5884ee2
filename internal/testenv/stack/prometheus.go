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
	// Interval is also the scrape timeout; defaults to PrometheusOptions.ScrapeInterval.
	Interval time.Duration
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
	config, err := yaml.Marshal(o.config())
	if err != nil {
		return nil, fmt.Errorf("write Prometheus' configuration: %w", err)
	}
	file := filepath.Join(o.Dir, "prometheus.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil { // it may contain tokens
		return nil, err
	}
	address := port.Address(cmp.Or(o.Port, port.Free()))
	p := &Prometheus{URL: "http://" + address}
	args := []string{
		"--config.file=" + file,
		"--storage.tsdb.path=" + filepath.Join(o.Dir, "prometheus"),
		"--web.listen-address=" + address,
		"--web.external-url=" + p.URL, // the default is derived from the host name
		"--web.enable-lifecycle",
		"--enable-feature=exemplar-storage",
		// An alert that fires before Prometheus has discovered its Alertmanager is resent only after this delay, by
		// default a minute.
		"--rules.alert.resend-delay=5s",
	}
	if p.Server, err = startProgram(ctx, PrometheusProgram, Command{Args: args, Dir: o.Dir, Ready: Answers(p.URL + "/-/ready"), Log: o.Log}); err != nil {
		return nil, err
	}
	return p, nil
}

func (o PrometheusOptions) config() map[string]any {
	jobs := []map[string]any{}
	for _, t := range o.Targets {
		job := map[string]any{
			"job_name": t.Job, "metrics_path": cmp.Or(t.Path, "/metrics"), "honor_labels": t.HonorLabels,
			"static_configs":           []any{map[string]any{"targets": t.Addresses, "labels": t.Labels}},
			"scrape_native_histograms": t.NativeHistograms, "convert_classic_histograms_to_nhcb": t.NativeHistograms,
		}
		if t.CAFile != "" {
			job["scheme"], job["tls_config"] = "https", map[string]string{"ca_file": t.CAFile}
		}
		if t.Token != "" {
			job["authorization"] = map[string]string{"credentials": t.Token}
		}
		if t.Interval > 0 {
			job["scrape_interval"], job["scrape_timeout"] = interval(t.Interval), interval(t.Interval)
		}
		jobs = append(jobs, job)
	}
	config := map[string]any{
		"global": map[string]string{
			"scrape_interval": interval(o.ScrapeInterval), "scrape_timeout": interval(o.ScrapeInterval), "evaluation_interval": interval(o.EvaluationInterval),
		},
		"rule_files": o.RuleFiles, "scrape_configs": jobs,
	}
	if o.Alertmanager != "" {
		targets := []any{map[string]any{"targets": []string{o.Alertmanager}}}
		config["alerting"] = map[string]any{"alertmanagers": []any{map[string]any{"static_configs": targets}}}
	}
	return config
}

// interval formats a duration for Prometheus: in whole milliseconds, without Go's 1m0s.
func interval(d time.Duration) string {
	return fmt.Sprintf("%dms", cmp.Or(d, time.Second).Milliseconds())
}
