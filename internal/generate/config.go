package generate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
)

const defaultRunbooks = "https://github.com/informer-exporter/informer-exporter/blob/main/deploy/runbooks"

// Config is the generator's configuration. The zero value is not complete: start with DefaultConfig or ParseConfig.
type Config struct {
	alerts     alerts.Config
	dashboards dashboards.Config
	// exporter is what is granted by RBAC: what the exporter needs with this configuration.
	exporter config.Config
	// prometheusURL is where Grafana finds Prometheus.
	prometheusURL string
}

// file is the configuration as it is written. Durations are strings so that an error can name the field.
type file struct {
	// Objectives changes thresholds, by the id of the objective.
	Objectives map[string]override `json:"objectives,omitempty"`
	// Handlers gives handlers a limit of their own, in seconds, by name.
	Handlers map[string]float64 `json:"handlers,omitempty"`
	// Controllers gives controllers objectives and labels of their own, by name.
	Controllers map[string]struct {
		Objectives map[string]override `json:"objectives,omitempty"`
		Labels     map[string]string   `json:"labels,omitempty"`
	} `json:"controllers,omitempty"`
	// Disabled names alerts to leave out.
	Disabled []string `json:"disabled,omitempty"`
	// Groups names the groups of rules to keep.
	Groups []string `json:"groups,omitempty"`
	// Labels are put on every alert.
	Labels map[string]string `json:"labels,omitempty"`
	// LabelNames are the names of labels in Prometheus, where they have others.
	LabelNames map[string]string `json:"labelNames,omitempty"`
	// Selector are matchers that all rules and dashboards select by.
	Selector string `json:"selector,omitempty"`
	// KeepFiringFor is how long alerts about gauges go on, so that a failed scrape does not resolve them.
	KeepFiringFor string `json:"keepFiringFor,omitempty"`
	// RunbookURL is where the runbooks are served.
	RunbookURL string `json:"runbookURL,omitempty"`
	// GrafanaURL is where Grafana is, for the links of alerts. Without it they are relative.
	GrafanaURL string `json:"grafanaURL,omitempty"`
	// PrometheusURL is where Grafana finds Prometheus.
	PrometheusURL string `json:"prometheusURL,omitempty"`
	Alertmanager  struct {
		WebhookURLs    map[string]string            `json:"webhookURLs,omitempty"`
		Teams          map[string]map[string]string `json:"teams,omitempty"`
		GroupBy        []string                     `json:"groupBy,omitempty"`
		GroupWait      string                       `json:"groupWait,omitempty"`
		GroupInterval  string                       `json:"groupInterval,omitempty"`
		RepeatInterval string                       `json:"repeatInterval,omitempty"`
	} `json:"alertmanager,omitempty"`
}

// override changes an objective.
type override struct {
	Threshold *float64 `json:"threshold,omitempty"`
	Window    string   `json:"window,omitempty"`
	For       string   `json:"for,omitempty"`
	Severity  string   `json:"severity,omitempty"`
}

// DefaultConfig is the configuration of the files in the repository.
func DefaultConfig() Config {
	c, err := ParseConfig(nil)
	if err != nil {
		panic(err) // an empty configuration depends on nothing from outside; a test covers it
	}
	return c
}

// ForExporter returns the configuration with the rights that an exporter with the given configuration needs, which must be
// valid. The default is what it needs without one.
func (c Config) ForExporter(e config.Config) Config {
	c.exporter = e
	return c
}

// ParseConfig reads a configuration in YAML. Unknown fields are errors, and every error names its field.
func ParseConfig(raw []byte) (Config, error) {
	f := file{RunbookURL: defaultRunbooks, PrometheusURL: "http://prometheus:9090"}
	if err := yaml.UnmarshalStrict(raw, &f); err != nil {
		return Config{}, plainer(err)
	}
	var errs []error
	parse := func(field, text string) *time.Duration {
		if text == "" {
			return nil
		}
		d, err := parseDuration(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
		}
		return &d
	}
	orZero := func(d *time.Duration) time.Duration {
		if d == nil {
			return 0
		}
		return *d
	}

	overridden := func(field string, objectives map[string]override, general map[string]catalog.Override) (catalog.Targets, map[string]catalog.Override) {
		overrides := maps.Clone(general)
		for _, id := range slices.Sorted(maps.Keys(objectives)) {
			o := objectives[id]
			before := overrides[id]
			overrides[id] = catalog.Override{
				Threshold: cmp.Or(o.Threshold, before.Threshold),
				Window:    cmp.Or(parse(field+"."+id+".window", o.Window), before.Window),
				For:       cmp.Or(parse(field+"."+id+".for", o.For), before.For),
				Severity:  cmp.Or(catalog.Severity(o.Severity), before.Severity),
			}
		}
		targets, err := catalog.NewTargets(overrides)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", field, err))
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
		{"runbookURL", f.RunbookURL}, {"grafanaURL", f.GrafanaURL}, {"prometheusURL", f.PrometheusURL},
	} {
		if err := checkURL(u.address); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", u.field, err))
		}
	}
	am := f.Alertmanager
	c := Config{
		dashboards:    dashboards.Config{Targets: targets, RunbookBase: f.RunbookURL, Labels: f.LabelNames, Selector: f.Selector},
		prometheusURL: f.PrometheusURL,
		alerts: alerts.Config{
			Targets: targets, HandlerThresholds: f.Handlers, Controllers: controllers, Disabled: f.Disabled, Groups: f.Groups,
			Labels: f.LabelNames, Selector: f.Selector, ExtraLabels: f.Labels,
			KeepFiringFor: orZero(parse("keepFiringFor", f.KeepFiringFor)),
			RunbookBase:   f.RunbookURL,
			Dashboards: alerts.Dashboards{
				Informers:      dashboardURL(f.GrafanaURL, dashboards.DetailUID),
				Controllers:    dashboardURL(f.GrafanaURL, dashboards.ControllersUID),
				LeaderElection: dashboardURL(f.GrafanaURL, dashboards.LeaderElectionUID),
				APIClient:      dashboardURL(f.GrafanaURL, dashboards.APIClientUID),
				Objects:        dashboardURL(f.GrafanaURL, dashboards.ObjectsUID),
				Exporter:       dashboardURL(f.GrafanaURL, dashboards.ExporterUID),
			},
			Alertmanager: alerts.Alertmanager{
				WebhookURLs: am.WebhookURLs, Teams: am.Teams, GroupBy: am.GroupBy,
				GroupWait:      orZero(parse("alertmanager.groupWait", am.GroupWait)),
				GroupInterval:  orZero(parse("alertmanager.groupInterval", am.GroupInterval)),
				RepeatInterval: orZero(parse("alertmanager.repeatInterval", am.RepeatInterval)),
			},
		},
	}
	errs = append(errs, c.alerts.Validate())
	return c, errors.Join(errs...)
}

// dashboardURL is relative if it is not known where Grafana is.
func dashboardURL(grafana, uid string) string { return strings.TrimSuffix(grafana, "/") + "/d/" + uid }

// plainer takes away what the libraries put before the message, which says nothing to somebody who writes YAML.
func plainer(err error) error {
	text := err.Error()
	for _, prefix := range []string{"error unmarshaling JSON: ", "while decoding JSON: ", "error converting YAML to JSON: ", "json: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return errors.New(strings.Replace(text, "Go struct field file.", "", 1))
}

var durationPattern = regexp.MustCompile(`^(?:(\d{1,4})d)?(?:(\d{1,5})h)?(?:(\d{1,6})m)?(?:(\d{1,8})s)?(?:(\d{1,9})ms)?$`)

// parseDuration reads a duration as Prometheus writes it, without its weeks and years.
func parseDuration(text string) (time.Duration, error) {
	parts := durationPattern.FindStringSubmatch(text)
	if parts == nil || text == "" {
		return 0, fmt.Errorf("%q is no duration; write 30s, 5m, 1h30m or 1d", text)
	}
	var d time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond} {
		n, _ := strconv.Atoi(parts[i+1]) // digits or nothing
		d += time.Duration(n) * unit
	}
	return d, nil
}

func checkURL(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is no http or https URL", address)
	}
	return nil
}
