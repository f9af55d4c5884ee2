package generate

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/configfile"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
)

// Config is the generator's configuration. The zero value is not complete: start with DefaultConfig or ParseConfig.
type Config struct {
	alerts     alerts.Config
	dashboards dashboards.Config
	// exporter is the configuration of the exporter, from which the RBAC rules are derived.
	exporter config.Config
	// prometheusURL is the URL of Prometheus as Grafana reaches it.
	prometheusURL string
	// traces is the store of traces as Grafana reaches it.
	traces traceStore
	// resources configures the Kubernetes resources.
	resources resources
	// schema2 selects the schema v2 for dashboards instead of the classic one.
	schema2 bool
}

// file is the configuration file.
type file struct {
	// Objectives overrides objectives, by ID.
	Objectives map[string]override `yaml:"objectives,omitempty"`
	// Handlers overrides the handler duration objective of individual handlers, in seconds, by name.
	Handlers map[string]float64 `yaml:"handlers,omitempty"`
	// Controllers has objectives and labels of individual controllers, by name.
	Controllers map[string]struct {
		Objectives map[string]override `yaml:"objectives,omitempty"`
		Labels     map[string]string   `yaml:"labels,omitempty"`
	} `yaml:"controllers,omitempty"`
	// Disabled names alerts to leave out.
	Disabled []string `yaml:"disabled,omitempty"`
	// Groups names the groups of rules to keep.
	Groups []string `yaml:"groups,omitempty"`
	// Labels are added to every alert.
	Labels map[string]string `yaml:"labels,omitempty"`
	// LabelNames are the names of labels in Prometheus, where they differ.
	LabelNames map[string]string `yaml:"labelNames,omitempty"`
	// Selector is a list of matchers for every query of rules and dashboards.
	Selector string `yaml:"selector,omitempty"`
	// Severities are the values of the severity label for page, ticket and info, and its name under the key label.
	Severities map[string]string `yaml:"severities,omitempty"`
	// Histograms is the form of histograms that rules and dashboards read: classic, the default, or native.
	Histograms string `yaml:"histograms,omitempty"`
	// LeaseNamespaces are the namespaces in which an expired Lease is a page.
	LeaseNamespaces []string `yaml:"leaseNamespaces,omitempty"`
	// Watchdog adds an alert that always fires.
	Watchdog bool `yaml:"watchdog,omitempty"`
	// ScrapeInterval is the interval at which Prometheus scrapes programs and exporters.
	ScrapeInterval *configfile.Duration `yaml:"scrapeInterval,omitempty"`
	// KeepFiringFor is how long alerts on gauges keep firing, so that a failed scrape does not resolve them.
	KeepFiringFor *configfile.Duration `yaml:"keepFiringFor,omitempty"`
	// RunbookURL is the base URL of the runbooks.
	RunbookURL string `yaml:"runbookURL,omitempty"`
	// GrafanaURL is the URL of Grafana. Without it, alerts do not link to dashboards.
	GrafanaURL string `yaml:"grafanaURL,omitempty"`
	// LogsURL is the URL of the logs of a process, with $namespace and $pod.
	LogsURL string `yaml:"logsURL,omitempty"`
	// TracesURL is the URL of the traces.
	TracesURL string `yaml:"tracesURL,omitempty"`
	// PrometheusURL is the URL of Prometheus as Grafana reaches it.
	PrometheusURL string `yaml:"prometheusURL,omitempty"`
	// Traces is the store of traces as Grafana reaches it.
	Traces traceStore `yaml:"traces,omitempty"`
	// Kubernetes configures the Kubernetes resources.
	Kubernetes   resources `yaml:"kubernetes,omitempty"`
	Alertmanager struct {
		WebhookURLs    map[string]string            `yaml:"webhookURLs,omitempty"`
		Teams          map[string]map[string]string `yaml:"teams,omitempty"`
		GroupBy        []string                     `yaml:"groupBy,omitempty"`
		GroupWait      *configfile.Duration         `yaml:"groupWait,omitempty"`
		GroupInterval  *configfile.Duration         `yaml:"groupInterval,omitempty"`
		RepeatInterval *configfile.Duration         `yaml:"repeatInterval,omitempty"`
		KubeAPIDown    bool                         `yaml:"kubeAPIDown,omitempty"`
	} `yaml:"alertmanager,omitempty"`
}

// override overrides an objective.
type override struct {
	Threshold *float64             `yaml:"threshold,omitempty"`
	Window    *configfile.Duration `yaml:"window,omitempty"`
	For       *configfile.Duration `yaml:"for,omitempty"`
	Severity  string               `yaml:"severity,omitempty"`
}

// DefaultConfig is the configuration of the files in the repository.
func DefaultConfig() Config {
	c, err := ParseConfig(nil)
	if err != nil {
		panic(err) // cannot happen for an empty configuration; a test covers it
	}
	return c
}

// ForExporter returns the configuration with the RBAC rules for an exporter with the given configuration, which must be valid.
// By default, the rules are those for an exporter without a configuration file.
func (c Config) ForExporter(e config.Config) Config {
	c.exporter = e
	return c
}

// WithSchema2 returns the configuration with dashboards in the schema v2 of Grafana 13. The default is the classic schema.
func (c Config) WithSchema2() Config {
	c.schema2 = true
	return c
}

// ParseConfig reads a configuration in YAML. Unknown fields are errors. An error about a field contains its path.
func ParseConfig(raw []byte) (Config, error) {
	f := file{
		RunbookURL: defaultRunbooks, PrometheusURL: "http://prometheus:9090",
		Traces: traceStore{Type: "jaeger", URL: "http://jaeger:16686"},
	}
	lines, err := configfile.Decode(raw, &f)
	if err != nil {
		return Config{}, err
	}
	var errs []error
	overridden := func(field string, objectives map[string]override, general map[string]catalog.Override) (catalog.Targets, map[string]catalog.Override) {
		overrides := maps.Clone(general)
		for _, id := range slices.Sorted(maps.Keys(objectives)) {
			o := objectives[id]
			before := overrides[id]
			overrides[id] = catalog.Override{
				Threshold: cmp.Or(o.Threshold, before.Threshold),
				Window:    cmp.Or((*time.Duration)(o.Window), before.Window),
				For:       cmp.Or((*time.Duration)(o.For), before.For),
				Severity:  cmp.Or(catalog.Severity(o.Severity), before.Severity),
			}
		}
		targets, err := catalog.NewTargets(overrides)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
		}
		if f.ScrapeInterval != nil {
			if targets, err = targets.AtScrapeInterval(f.ScrapeInterval.Or(0)); err != nil {
				errs = append(errs, fmt.Errorf("scrapeInterval: %w", err))
			}
		}
		return targets, overrides
	}
	targets, overrides := overridden("objectives", f.Objectives, map[string]catalog.Override{})
	controllers := map[string]alerts.Controller{}
	for _, name := range slices.Sorted(maps.Keys(f.Controllers)) {
		field := "controllers." + name + ".objectives"
		for _, id := range slices.Sorted(maps.Keys(f.Controllers[name].Objectives)) {
			if !alerts.OfControllers(id) {
				errs = append(errs, fmt.Errorf("%s: %s is not the objective of an alert about controllers", field, id))
			}
		}
		own, _ := overridden(field, f.Controllers[name].Objectives, overrides)
		controllers[name] = alerts.Controller{Targets: own, Labels: f.Controllers[name].Labels}
	}
	for _, u := range []struct{ field, address string }{
		{"runbookURL", f.RunbookURL}, {"grafanaURL", f.GrafanaURL}, {"prometheusURL", f.PrometheusURL}, {"traces.url", f.Traces.URL},
	} {
		if err := checkURL(u.address); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", u.field, err))
		}
	}
	if names := []string{"jaeger", "tempo"}; !slices.Contains(names, f.Traces.Type) {
		errs = append(errs, fmt.Errorf("traces.type: %q is not one of %s", f.Traces.Type, strings.Join(names, ", ")))
	}
	errs = append(errs, f.Kubernetes.validate()...)
	for field, address := range map[string]string{"logsURL": f.LogsURL, "tracesURL": f.TracesURL} {
		if strings.HasPrefix(address, "/") {
			continue // a path in Grafana
		}
		if err := checkURL(address); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
		}
	}
	am := f.Alertmanager
	if scrape := targets.ScrapeInterval(); f.ScrapeInterval != nil && f.KeepFiringFor != nil && f.KeepFiringFor.Or(0) <= scrape {
		errs = append(errs, fmt.Errorf("keepFiringFor: %s is not longer than the scrape interval, %s",
			catalog.FormatDuration(f.KeepFiringFor.Or(0)), catalog.FormatDuration(scrape)))
	}
	c := Config{
		dashboards: dashboards.Config{
			Targets: targets, MinInterval: f.ScrapeInterval.Or(0), RunbookBase: f.RunbookURL, Labels: f.LabelNames, Selector: f.Selector, Severities: f.Severities,
			Histograms: f.Histograms, LogsURL: f.LogsURL, TracesURL: f.TracesURL,
		},
		prometheusURL: f.PrometheusURL,
		traces:        f.Traces,
		resources:     f.Kubernetes.defaults(),
		alerts: alerts.Config{
			Targets: targets, HandlerThresholds: f.Handlers, Controllers: controllers, Disabled: f.Disabled, Groups: f.Groups,
			Labels: f.LabelNames, Selector: f.Selector, Severities: f.Severities, ExtraLabels: f.Labels,
			Histograms:      f.Histograms,
			LeaseNamespaces: f.LeaseNamespaces, Watchdog: f.Watchdog,
			KeepFiringFor: f.KeepFiringFor.Or(0),
			RunbookBase:   f.RunbookURL,
			GrafanaURL:    f.GrafanaURL,
			Dashboards: alerts.Dashboards{
				Overview:       dashboardURL(f.GrafanaURL, dashboards.OverviewUID),
				Informers:      dashboardURL(f.GrafanaURL, dashboards.DetailUID),
				Controllers:    dashboardURL(f.GrafanaURL, dashboards.ControllersUID),
				LeaderElection: dashboardURL(f.GrafanaURL, dashboards.LeaderElectionUID),
				APIClient:      dashboardURL(f.GrafanaURL, dashboards.APIClientUID),
				Objects:        dashboardURL(f.GrafanaURL, dashboards.ObjectsUID),
				Clients:        dashboardURL(f.GrafanaURL, dashboards.ClientsUID),
				Exporter:       dashboardURL(f.GrafanaURL, dashboards.ExporterUID),
			},
			Alertmanager: alerts.Alertmanager{
				WebhookURLs: am.WebhookURLs, Teams: am.Teams, GroupBy: am.GroupBy,
				GroupWait:      am.GroupWait.Or(0),
				GroupInterval:  am.GroupInterval.Or(0),
				RepeatInterval: am.RepeatInterval.Or(0),
				KubeAPIDown:    am.KubeAPIDown,
			},
		},
	}
	return c, lines.Join(append(errs, c.alerts.Validate())...)
}

// scrapeInterval returns the scrape interval as Prometheus and Grafana write it.
func (c Config) scrapeInterval() string {
	return catalog.FormatDuration(c.alerts.Targets.ScrapeInterval())
}

// dashboardURL returns "" if the URL of Grafana is unknown.
func dashboardURL(grafana, uid string) string {
	if grafana == "" {
		return ""
	}
	return strings.TrimSuffix(grafana, "/") + "/d/" + uid
}

func checkURL(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is not an http or https URL", address)
	}
	return nil
}
