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

// Config configures the rules and their routing. The zero value is valid: the objectives of the catalog, no links, and
// Alertmanager receivers that read their URLs from files.
type Config struct {
	// Targets are the objectives in effect.
	Targets catalog.Targets
	// HandlerThresholds are the objectives of single handlers: the 99th percentile of their duration in seconds, by the value of
	// the label handler.
	HandlerThresholds map[string]float64
	// RunbookBase is the base URL of the runbooks. The name of the alert and ".md" are appended. Without it, alerts have no
	// runbook_url.
	RunbookBase string
	// GrafanaURL is the URL of Grafana, for links to the queries of a runbook. Defaults to none.
	GrafanaURL string
	// Dashboards are the URLs that alerts link to.
	Dashboards Dashboards
	// Controllers configures individual controllers, by the name of the controller or of its queue.
	Controllers map[string]Controller
	// Disabled names alerts to leave out.
	Disabled []string
	// Groups names the groups of rules to keep, without their common prefix, such as "upstream". Defaults to all.
	Groups []string
	// Labels are the names of the labels cluster, namespace, pod, job and instance of targets in Prometheus, where they differ.
	Labels map[string]string
	// Selector is a list of matchers that every rule uses, such as `env="prod"`. Defaults to none.
	Selector string
	// Severities are the values of the label severity for page, ticket and info, where they differ, and the name of that label
	// under the key label: {"label": "priority", "page": "critical"}. All other fields name severities page, ticket and info.
	Severities map[string]string
	// Histograms is the form of histograms that rules and runbooks read, classic or native. Defaults to classic.
	Histograms string
	// LeaseNamespaces are the namespaces in which an expired Lease is a page, because the cluster depends on its holder; nil for
	// kube-system. Elsewhere it is a ticket: any removed program may leave a Lease behind.
	LeaseNamespaces []string
	// KeepFiringFor is how long alerts on gauges keep firing, so that a failed scrape does not resolve them. It should be
	// longer than the scrape interval. Defaults to two minutes, or two scrapes.
	KeepFiringFor time.Duration
	// ExtraLabels are labels of every alert, such as its team. severity, window and mutes are reserved.
	ExtraLabels map[string]string
	// Watchdog adds the alert Watchdog, which always fires, with a route and a receiver of its own.
	Watchdog bool
	// Alertmanager configures notifications.
	Alertmanager Alertmanager

	// subject is a list of matchers of what a rule is about, such as a controller.
	subject string
}

// Dashboards are the URLs of the dashboards that alerts link to, without variables. Alerts of a dashboard without a URL have no
// dashboard_url.
type Dashboards struct {
	// Overview shows all informers of a cluster.
	Overview string
	// Informers shows single informers.
	Informers string
	// Controllers shows queues, reconciles and finalizers.
	Controllers string
	// LeaderElection shows locks and their holders.
	LeaderElection string
	// APIClient shows requests to the API server.
	APIClient string
	// Objects shows the objects of the cluster.
	Objects string
	// Clients shows the clients of the API server.
	Clients string
	// Exporter shows the exporter itself.
	Exporter string
}

// of returns the URL of a dashboard by the name that runbooks give it.
func (d Dashboards) of(name string) string { return d.byName()[name] }

func (d Dashboards) byName() map[string]string {
	return map[string]string{
		"overview": d.Overview, "informers": d.Informers, "controllers": d.Controllers, "leader-election": d.LeaderElection,
		"api-client": d.APIClient, "objects": d.Objects, "clients": d.Clients, "exporter": d.Exporter,
	}
}

// Alertmanager configures notifications.
type Alertmanager struct {
	// WebhookURLs are the URLs that alerts are sent to, by severity: page, ticket, info; or watchdog. A receiver without a URL reads it from
	// a file in SecretsDir.
	WebhookURLs map[string]string
	// Teams are the webhook URLs of teams, by the value of the label team and by severity. Alerts of severities that a team has
	// no URL for go to the general receivers.
	Teams map[string]map[string]string
	// GroupBy is Alertmanager's group_by. It defaults to alertname, cluster and name.
	GroupBy []string
	// GroupWait is Alertmanager's group_wait. It defaults to 30s.
	GroupWait time.Duration
	// GroupInterval is Alertmanager's group_interval. It defaults to 5m, and to 1m for pages.
	GroupInterval time.Duration
	// RepeatInterval is Alertmanager's repeat_interval. It defaults to 4h, and to 24h for tickets and info.
	RepeatInterval time.Duration
	// KubeAPIDown makes the alert KubeAPIDown of kubernetes-mixin mute KubernetesAPIUnreachable and the alerts that
	// KubernetesAPIUnreachable mutes. KubeAPIDown always fires where Prometheus does not scrape the API servers.
	KubeAPIDown bool
}

// Enabled reports whether the configuration keeps an alert.
func (c Config) Enabled(a Alert) bool {
	return !slices.Contains(c.Disabled, a.Name) && c.keeps(a.group)
}

// keeps reports whether the configuration keeps a group of rules.
func (c Config) keeps(group string) bool {
	return len(c.Groups) == 0 || slices.Contains(c.Groups, family(group))
}

// Validate returns an error that names every invalid setting.
func (c Config) Validate() error {
	var errs []error
	fail := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }

	for _, name := range c.Disabled {
		if _, ok := ByName(name); !ok {
			fail("disabled: unknown alert %q; use one of %s", name, strings.Join(names(), ", "))
		}
	}
	bounds := catalog.InformerHandlerDuration.Buckets
	for _, handler := range slices.Sorted(maps.Keys(c.HandlerThresholds)) {
		limit := c.HandlerThresholds[handler]
		if handler == "" {
			fail("handlers: the name of a handler must not be empty")
		}
		if !slices.Contains(bounds[:len(bounds)-1], limit) {
			fail("handlers: the threshold %[2]v of %[1]q is not a bucket of %[3]s; use one of %[4]v", handler, limit, catalog.InformerHandlerDuration.Name, bounds[:len(bounds)-1])
		}
	}
	for _, name := range c.Groups {
		if !slices.Contains(groupNames(), name) {
			fail("groups: unknown group %q; use one of %s", name, strings.Join(groupNames(), ", "))
		}
	}
	for _, namespace := range c.LeaseNamespaces {
		if !namespaceName.MatchString(namespace) {
			fail("leaseNamespaces: %q is not the name of a namespace", namespace)
		}
	}
	errs = append(errs, c.series().Validate(reservedLabels())...)
	errs = append(errs, c.validateExtra("labels", c.ExtraLabels)...)
	for _, name := range slices.Sorted(maps.Keys(c.Controllers)) {
		if name == "" {
			fail("controllers: the name of a controller must not be empty")
		}
		errs = append(errs, c.validateExtra("controllers."+name+".labels", c.Controllers[name].Labels)...)
	}
	addresses := slices.Sorted(maps.Values(c.Dashboards.byName()))
	for _, address := range append(addresses, c.RunbookBase, c.GrafanaURL) {
		if strings.Contains(address, "{{") {
			fail("%q contains a template; use a plain URL", address)
		}
	}
	am := c.Alertmanager
	checkWebhooks := func(field string, urls map[string]string, known []string) {
		for _, severity := range slices.Sorted(maps.Keys(urls)) {
			if !slices.Contains(known, severity) {
				fail("%s: %q is not a severity; use one of %s", field, severity, strings.Join(known, ", "))
			}
			u, err := url.Parse(urls[severity])
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				fail("%s.%s: %q is not an http or https URL", field, severity, urls[severity])
			}
		}
	}
	checkWebhooks("alertmanager.webhookURLs", am.WebhookURLs, c.receivers())
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"groupWait", am.GroupWait}, {"groupInterval", am.GroupInterval}, {"repeatInterval", am.RepeatInterval}} {
		if d.value < 0 {
			fail("alertmanager.%s: %v must not be negative", d.field, d.value)
		}
	}
	for _, team := range slices.Sorted(maps.Keys(am.Teams)) {
		if !teamName.MatchString(team) {
			fail("alertmanager.teams: %q is not a valid team name; use letters, digits, - and _", team)
		}
		checkWebhooks("alertmanager.teams."+team, am.Teams[team], receivers)
	}
	seen := map[string]bool{}
	for _, label := range am.GroupBy {
		if !labelName.MatchString(label) || seen[label] {
			fail("alertmanager.groupBy: %q is not a valid label name, or is repeated", label)
		}
		seen[label] = true
	}
	return errors.Join(errs...)
}

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// series describes the series that rules select.
func (c Config) series() prom.Series {
	return prom.Series{Labels: c.Labels, Selector: c.Selector, Subject: c.subject, Severities: c.Severities, Histograms: prom.Histograms(c.Histograms)}
}

// Severity returns the value that the severity label has in Prometheus.
func (c Config) Severity(s catalog.Severity) string { return c.series().Severity(string(s)) }

// leaseNamespaces returns the namespaces in which expired Leases page.
func (c Config) leaseNamespaces() []string {
	if c.LeaseNamespaces == nil {
		return []string{"kube-system"}
	}
	return c.LeaseNamespaces
}

// only returns the configuration for rules on the series that a matcher selects.
func (c Config) only(matcher string) Config {
	c.subject = matcher
	return c
}

// label adds ExtraLabels to rules that do not set these labels themselves.
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

// name returns the name that a label has in Prometheus. "namespace" is the namespace of objects and has no other
// name; the namespace of targets is written "@namespace", as in queries.
func (c Config) name(label string) string {
	if label == "namespace" {
		return label
	}
	return c.series().Label(strings.TrimPrefix(label, "@"))
}

func (c Config) names(labels []string) []string {
	list := make([]string, len(labels))
	for i, l := range labels {
		list[i] = c.name(l)
	}
	return list
}

// reservedLabels returns the label names that metrics, alerts and routes use, except the label for the severity.
func reservedLabels() []string {
	list := []string{"alertname", "alertstate", teamLabel, "window", MutesLabel}
	for _, m := range catalog.All() {
		if !m.Foreign() {
			list = append(list, m.LabelNames()...)
		}
	}
	return list
}

// namespaceName is an RFC 1123 label, as Kubernetes requires of namespaces.
var namespaceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

var teamName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// validateExtra returns the errors of labels that are added to alerts.
func (c Config) validateExtra(field string, labels map[string]string) []error {
	var errs []error
	reserved := slices.Concat(reservedLabels(), prom.TargetLabels(), slices.Collect(maps.Values(c.Labels)), []string{c.series().SeverityLabel()})
	reserved = slices.DeleteFunc(reserved, func(name string) bool { return name == teamLabel }) // routes read it
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		switch {
		case !labelName.MatchString(name):
			errs = append(errs, fmt.Errorf("%s: %q is not a valid label name", field, name))
		case slices.Contains(reserved, name), strings.HasPrefix(name, "__"):
			errs = append(errs, fmt.Errorf("%s: %q is set by the rules and cannot be changed", field, name))
		case strings.Contains(labels[name], "{{"):
			errs = append(errs, fmt.Errorf("%s.%s: %q contains a template; use a plain value", field, name, labels[name]))
		}
	}
	return errs
}
