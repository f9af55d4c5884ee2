package alerts

import (
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// SecretsDir is the directory of the files page-url, ticket-url, info-url and watchdog-url, from which Alertmanager reads the URLs of
// receivers without a configured URL.
const SecretsDir = "/etc/alertmanager/secrets/informer-exporter"

// receivers are named after severities. The configuration may give severities other names in Prometheus, but receivers
// and the files with their URLs keep these names.
var receivers = []string{string(catalog.Page), string(catalog.Ticket), string(catalog.Info)}

// teamLabel is the label by which alerts are routed to teams.
const teamLabel = "team"

// null is the receiver of alerts that only mute others.
const null = "null"

type alertmanagerFile struct {
	Global       map[string]string `json:"global"`
	Route        route             `json:"route"`
	InhibitRules []inhibition      `json:"inhibit_rules"`
	Receivers    []receiver        `json:"receivers"`
}

type route struct {
	Receiver       string   `json:"receiver"`
	Matchers       []string `json:"matchers,omitempty"`
	GroupBy        []string `json:"group_by,omitempty"`
	GroupWait      string   `json:"group_wait,omitempty"`
	GroupInterval  string   `json:"group_interval,omitempty"`
	RepeatInterval string   `json:"repeat_interval,omitempty"`
	Routes         []route  `json:"routes,omitempty"`
}

type inhibition struct {
	SourceMatchers []string `json:"source_matchers"`
	TargetMatchers []string `json:"target_matchers"`
	Equal          []string `json:"equal"`
}

type receiver struct {
	Name     string    `json:"name"`
	Webhooks []webhook `json:"webhook_configs,omitempty"`
}

type webhook struct {
	URL          string `json:"url,omitempty"`
	URLFile      string `json:"url_file,omitempty"`
	SendResolved bool   `json:"send_resolved"`
}

// AlertmanagerFile returns an Alertmanager configuration for a valid configuration: routes by severity, and inhibition rules that
// mute alerts that follow from another one.
func AlertmanagerFile(c Config) ([]byte, error) {
	am := c.Alertmanager
	groupBy := am.GroupBy
	if groupBy == nil {
		// Not by informer_type: a failing API server leads to one notification instead of one per resource.
		groupBy = []string{"alertname", "cluster", "name"}
	}
	ticketRepeat := am.RepeatInterval
	if ticketRepeat == 0 {
		ticketRepeat = 24 * time.Hour
	}
	routes, teamReceivers := c.teamRoutes(ticketRepeat)
	if c.Watchdog {
		routes = append([]route{watchdogRoute()}, routes...)
	}
	silent := route{Receiver: null, Matchers: []string{`alertname="` + apiUnreachable + `"`, MutesLabel + `!=""`}}
	return yaml.Marshal(alertmanagerFile{
		Global: map[string]string{"resolve_timeout": "5m"},
		Route: route{
			Receiver:       string(catalog.Ticket),
			GroupBy:        c.names(groupBy),
			GroupWait:      orDefault(am.GroupWait, 30*time.Second),
			GroupInterval:  orDefault(am.GroupInterval, 5*time.Minute),
			RepeatInterval: orDefault(am.RepeatInterval, 4*time.Hour),
			Routes: slices.Concat([]route{silent}, routes, []route{
				c.bySeverity("", catalog.Page, ticketRepeat),
				c.bySeverity("", catalog.Ticket, ticketRepeat),
				c.bySeverity("", catalog.Info, ticketRepeat),
			}),
		},
		InhibitRules: inhibitions(c),
		Receivers:    slices.Concat(c.webhookReceivers(), teamReceivers, []receiver{{Name: null}}),
	})
}

// hasSeverity returns the matcher of a severity.
func (c Config) hasSeverity(s catalog.Severity) string {
	return c.series().SeverityLabel() + `="` + c.Severity(s) + `"`
}

const (
	// apiUnreachable is the alert with rules that only mute others.
	apiUnreachable = "KubernetesAPIUnreachable"
	// kubeAPIDown is the alert of kubernetes-mixin for an API server that is not scraped.
	kubeAPIDown = "KubeAPIDown"
)

// MutesLabel is the label of rules that send no notification and mute others. Its value is the severity that they mute, which is also
// the name of its receiver.
const MutesLabel = "mutes"

// inhibitions returns the rules of inhibitions.yaml, by which a cause mutes its effects. If configured, KubeAPIDown mutes
// KubernetesAPIUnreachable and what that mutes.
func inhibitions(c Config) []inhibition {
	list := slices.Clone(loaded().inhibitions)
	if c.Alertmanager.KubeAPIDown {
		outage := list[0].TargetMatchers[0]
		list = slices.Insert(list, 2, inhibition{
			SourceMatchers: []string{`alertname="` + kubeAPIDown + `"`},
			TargetMatchers: []string{strings.TrimSuffix(outage, `"`) + "|" + apiUnreachable + `"`},
			Equal:          []string{"cluster"},
		})
	}
	fill := func(matchers []string) (filled []string) {
		for _, m := range matchers {
			filled = append(filled, c.series().Fill(m))
		}
		return filled
	}
	for i, r := range list {
		list[i] = inhibition{fill(r.SourceMatchers), fill(r.TargetMatchers), c.names(r.Equal)}
	}
	return list
}

// pageInterval is the default group_interval of pages: a page that was muted waits for the next one.
const pageInterval = time.Minute

// bySeverity returns the route of a severity, for one team unless team is empty.
func (c Config) bySeverity(team string, severity catalog.Severity, ticketRepeat time.Duration) route {
	r := route{Receiver: receiverName(team, string(severity)), Matchers: []string{c.hasSeverity(severity)}}
	if team != "" {
		r.Matchers = append([]string{teamLabel + `="` + team + `"`}, r.Matchers...)
	}
	switch {
	case severity != catalog.Page:
		r.RepeatInterval = catalog.FormatDuration(ticketRepeat)
	case c.Alertmanager.GroupInterval == 0:
		r.GroupInterval = catalog.FormatDuration(pageInterval)
	}
	return r
}

func receiverName(team, severity string) string {
	if team == "" {
		return severity
	}
	return team + "-" + severity
}

// teamRoutes returns the routes and receivers of teams, for the severities that they have a URL for.
func (c Config) teamRoutes(ticketRepeat time.Duration) (routes []route, list []receiver) {
	teams := c.Alertmanager.Teams
	for _, team := range slices.Sorted(maps.Keys(teams)) {
		for _, severity := range receivers {
			if address, ok := teams[team][severity]; ok {
				routes = append(routes, c.bySeverity(team, catalog.Severity(severity), ticketRepeat))
				list = append(list, receiver{Name: receiverName(team, severity), Webhooks: []webhook{{URL: address, SendResolved: true}}})
			}
		}
	}
	return routes, list
}

// receivers returns the names of the receivers that every configuration has, and of the watchdog's if it is enabled.
func (c Config) receivers() []string {
	if c.Watchdog {
		return append(slices.Clone(receivers), watchdogReceiver)
	}
	return receivers
}

func (c Config) webhookReceivers() []receiver {
	var list []receiver
	for _, name := range c.receivers() {
		hook := webhook{URL: c.Alertmanager.WebhookURLs[name], SendResolved: name != watchdogReceiver}
		if hook.URL == "" {
			hook.URLFile = SecretsDir + "/" + name + "-url"
		}
		list = append(list, receiver{Name: name, Webhooks: []webhook{hook}})
	}
	return list
}

func orDefault(d, otherwise time.Duration) string {
	if d == 0 {
		d = otherwise
	}
	return catalog.FormatDuration(d)
}
