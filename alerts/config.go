package alerts

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// Config configures the rules and their routing. The zero value is valid: the objectives of the catalog, relative addresses,
// and Alertmanager receivers that read their URLs from files.
type Config struct {
	// Targets are the objectives in force.
	Targets catalog.Targets
	// HandlerThresholds are objectives of single handlers for the 99th percentile of their duration in seconds, by the value
	// of the label handler.
	HandlerThresholds map[string]float64
	// RunbookBase is the address that the runbooks are served under. The name of the alert and ".md" are appended.
	RunbookBase string
	// Dashboards are the addresses that alerts link to.
	Dashboards Dashboards
	// Controllers configures single controllers, by the name of the controller or of its queue.
	Controllers map[string]Controller
	// Disabled names alerts to leave out.
	Disabled []string
	// Groups names the groups of rules to keep, without their common prefix, such as "upstream". Defaults to all.
	Groups []string
	// Labels are the names that labels have in Prometheus instead of cluster, job and instance.
	Labels map[string]string
	// Selector is a list of matchers that every rule uses, such as `env="prod"`. Defaults to none.
	Selector string
	// KeepFiringFor is how long alerts on gauges keep firing, so that a failed scrape does not resolve them. It should be
	// longer than the scrape interval. Defaults to two minutes.
	KeepFiringFor time.Duration
	// ExtraLabels are labels of every alert, such as its team. severity and window are reserved.
	ExtraLabels map[string]string
	// Alertmanager configures notifications.
	Alertmanager Alertmanager
}

// Dashboards are the addresses of the dashboards that alerts link to, without variables.
type Dashboards struct {
	// Informers is about single informers.
	Informers string
	// Controllers is about queues, reconciles and finalizers.
	Controllers string
	// LeaderElection is about locks and their holders.
	LeaderElection string
	// APIClient is about requests to the API server.
	APIClient string
	// Objects is about the objects of the cluster.
	Objects string
	// Exporter is about the exporter itself.
	Exporter string
}

// board is one of Dashboards.
type board int

const (
	informerBoard board = iota
	controllerBoard
	leaderBoard
	clientBoard
	objectBoard
	exporterBoard
)

func (d Dashboards) of(b board) string {
	return [...]string{d.Informers, d.Controllers, d.LeaderElection, d.APIClient, d.Objects, d.Exporter}[b]
}

// Alertmanager configures notifications.
type Alertmanager struct {
	// WebhookURLs are the addresses that alerts are sent to, by severity: page, ticket, info. A receiver without one
	// reads its address from a file, see SecretsDir.
	WebhookURLs map[string]string
	// Teams are receivers of teams: the addresses by severity, by the value of the label team. What a team has no address for
	// goes to the receivers of all.
	Teams map[string]map[string]string
	// GroupBy are the labels whose values make a notification of its own; nil for alertname, cluster and name.
	GroupBy []string
	// GroupWait is how long the first notification of a group waits for more; 0 for 30s.
	GroupWait time.Duration
	// GroupInterval is how long a change of a group waits; 0 for 5m.
	GroupInterval time.Duration
	// RepeatInterval is after how long an unchanged group is sent again; 0 for 4h, and 24h for tickets.
	RepeatInterval time.Duration
}

// Enabled reports whether the configuration keeps an alert.
func (c Config) Enabled(a Alert) bool {
	return !slices.Contains(c.Disabled, a.Name) && (len(c.Groups) == 0 || slices.Contains(c.Groups, groupName(a.Objective.Metric.Family)))
}

// Validate returns an error that names every invalid setting.
func (c Config) Validate() error {
	var errs []error
	fail := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }

	for _, name := range c.Disabled {
		if _, ok := ByName(name); !ok {
			fail("disabled: no alert is named %q; there are: %s", name, strings.Join(names(), ", "))
		}
	}
	bounds := catalog.InformerHandlerDuration.Buckets
	for _, handler := range slices.Sorted(maps.Keys(c.HandlerThresholds)) {
		limit := c.HandlerThresholds[handler]
		if handler == "" {
			fail("handlers: the name of a handler is empty")
		}
		if !slices.Contains(bounds[:len(bounds)-1], limit) {
			fail("handlers: %q has %v, which is no bucket of %s; use one of %v", handler, limit, catalog.InformerHandlerDuration.Name, bounds[:len(bounds)-1])
		}
	}
	for _, name := range c.Groups {
		if !slices.Contains(groupNames(), name) {
			fail("groups: no group is named %q; there are: %s", name, strings.Join(groupNames(), ", "))
		}
	}
	errs = append(errs, c.series().Validate(reservedLabels())...)
	errs = append(errs, validateExtra("labels", c.ExtraLabels, c.Labels)...)
	for _, name := range slices.Sorted(maps.Keys(c.Controllers)) {
		if name == "" {
			fail("controllers: the name of a controller is empty")
		}
		errs = append(errs, validateExtra("controllers."+name+".labels", c.Controllers[name].Labels, c.Labels)...)
	}
	d := c.Dashboards
	for _, address := range []string{c.RunbookBase, d.Informers, d.Controllers, d.LeaderElection, d.APIClient, d.Objects, d.Exporter} {
		if strings.Contains(address, "{{") {
			fail("%q holds a template; give a plain address", address)
		}
	}
	am := c.Alertmanager
	checkWebhooks := func(field string, urls map[string]string) {
		for _, severity := range slices.Sorted(maps.Keys(urls)) {
			if !slices.Contains(receivers, severity) {
				fail("%s: %q is no severity; use %s", field, severity, strings.Join(receivers, ", "))
			}
			u, err := url.Parse(urls[severity])
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				fail("%s.%s: %q is no http or https URL", field, severity, urls[severity])
			}
		}
	}
	checkWebhooks("alertmanager.webhookURLs", am.WebhookURLs)
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"groupWait", am.GroupWait}, {"groupInterval", am.GroupInterval}, {"repeatInterval", am.RepeatInterval}} {
		if d.value < 0 {
			fail("alertmanager.%s: %v is negative", d.field, d.value)
		}
	}
	for _, team := range slices.Sorted(maps.Keys(am.Teams)) {
		if !teamName.MatchString(team) {
			fail("alertmanager.teams: %q is no name for a team; use letters, digits, - and _", team)
		}
		checkWebhooks("alertmanager.teams."+team, am.Teams[team])
	}
	seen := map[string]bool{}
	for _, label := range am.GroupBy {
		if !labelName.MatchString(label) || seen[label] {
			fail("alertmanager.groupBy: %q is no label or stands there twice", label)
		}
		seen[label] = true
	}
	return errors.Join(errs...)
}

// series describes the series that rules select.
func (c Config) series() prom.Series { return prom.Series{Labels: c.Labels, Selector: c.Selector} }

// only returns the configuration for rules about the series that a matcher selects.
func (c Config) only(matcher string) Config {
	c.Selector = c.series().And(matcher).Selector
	return c
}

// label puts the labels that every alert gets on those that have none of their own.
func (c Config) label(rules []Rule) []Rule {
	for _, r := range rules {
		for name, value := range c.ExtraLabels {
			if _, own := r.Labels[name]; !own {
				r.Labels[name] = value
			}
		}
	}
	return rules
}

// names returns labels under the names that they have.
func (c Config) names(labels []string) []string {
	list := make([]string, len(labels))
	for i, l := range labels {
		list[i] = c.series().Label(l)
	}
	return list
}

// reservedLabels are the names that labels of metrics and alerts have.
func reservedLabels() []string {
	list := []string{"alertname", "alertstate", SeverityLabel, "window"}
	for _, m := range catalog.All() {
		list = append(list, m.LabelNames()...)
	}
	return list
}

var teamName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// validateExtra returns the errors of labels that are added to alerts.
func validateExtra(field string, labels, renamed map[string]string) []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		switch {
		case !labelName.MatchString(name):
			errs = append(errs, fmt.Errorf("%s: %q is no name of a label", field, name))
		case slices.Contains(slices.Concat(reservedLabels(), prom.TargetLabels(), slices.Collect(maps.Values(renamed))), name), strings.HasPrefix(name, "__"):
			errs = append(errs, fmt.Errorf("%s: %q comes from the rules and cannot be set", field, name))
		case strings.Contains(labels[name], "{{"):
			errs = append(errs, fmt.Errorf("%s.%s: %q holds a template; give a plain value", field, name, labels[name]))
		}
	}
	return errs
}
