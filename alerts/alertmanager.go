package alerts

import (
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// SecretsDir is the directory of the files page-url, ticket-url and info-url, from which Alertmanager reads the URLs of
// receivers without a configured URL.
const SecretsDir = "/etc/alertmanager/secrets/informer-exporter"

// receivers are named after the severities that they receive.
var receivers = []string{string(catalog.Page), string(catalog.Ticket), string(catalog.Info)}

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

// AlertmanagerFile returns an Alertmanager configuration for a valid configuration: routes by severity, and inhibition rules
// that mute alerts which follow from another one.
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
	routes, teamReceivers := teamRoutes(am.Teams, ticketRepeat)
	mutes := route{Receiver: null, Matchers: []string{alertname(apiUnreachable), severity(catalog.Info)}}
	return yaml.Marshal(alertmanagerFile{
		Global: map[string]string{"resolve_timeout": "5m"},
		Route: route{
			Receiver:       string(catalog.Ticket),
			GroupBy:        c.names(groupBy),
			GroupWait:      orDefault(am.GroupWait, 30*time.Second),
			GroupInterval:  orDefault(am.GroupInterval, 5*time.Minute),
			RepeatInterval: orDefault(am.RepeatInterval, 4*time.Hour),
			Routes: slices.Concat([]route{mutes}, routes, []route{
				bySeverity("", string(catalog.Page), ticketRepeat),
				bySeverity("", string(catalog.Ticket), ticketRepeat),
				bySeverity("", string(catalog.Info), ticketRepeat),
			}),
		},
		InhibitRules: inhibitions(c),
		Receivers:    slices.Concat(webhookReceivers(am.WebhookURLs), teamReceivers, []receiver{{Name: null}}),
	})
}

func alertname(a Alert) string { return `alertname="` + a.Name + `"` }

func severity(s catalog.Severity) string { return SeverityLabel + `="` + string(s) + `"` }

// kubeAPIDown is the alert of kubernetes-mixin for an API server that is not scraped. Without that alert, the rule mutes nothing.
const kubeAPIDown = "KubeAPIDown"

// outage mutes what follows from an API server that cannot be reached, pages included.
func outage() []inhibition {
	follow := followFromOutage()
	names := make([]string, len(follow))
	for i, a := range follow {
		names[i] = a.Name
	}
	return []inhibition{
		{
			// One source per cluster: when one of several is removed after it has resolved, Alertmanager 0.31 forgets the others
			// until they are sent again.
			SourceMatchers: []string{alertname(apiUnreachable), severity(catalog.Info)},
			TargetMatchers: []string{`alertname=~"` + strings.Join(names, "|") + `"`},
			Equal:          []string{"cluster"},
		},
		{
			SourceMatchers: []string{`alertname="` + kubeAPIDown + `"`},
			TargetMatchers: []string{`alertname=~"` + strings.Join(append(names, apiUnreachable.Name), "|") + `"`},
			Equal:          []string{"cluster"},
		},
	}
}

// inhibitions returns rules that mute the effects of a cause. An outage of the API server mutes everything that follows from
// it. The other rules form chains, from cause to effect: exporter absent, not synced, watch down, lag; blocked, slow, deep queue;
// no leader, leader transitions; terminating object, its Namespace. An alert on one process inhibits only alerts on the same
// process. Except in an outage, a ticket never inhibits a page.
func inhibitions(c Config) []inhibition {
	name := alertname
	watch := `alertname=~"` + informerWatchDown.Name + `|` + informerWatchDisconnects.Name + `"`
	list := append(outage(), []inhibition{
		{
			// Only the exporter's own informers: programs with the library report their own metrics.
			SourceMatchers: []string{name(informerExporterAbsent)},
			TargetMatchers: []string{`alertname=~"Informer.+"`, `name=~"` + exporterNames + `"`},
			Equal:          []string{"cluster"},
		},
		{
			SourceMatchers: []string{name(informerExporterAbsent)},
			TargetMatchers: []string{name(informerExporterKindDown)},
			Equal:          []string{"cluster"},
		},
		{
			SourceMatchers: []string{name(informerNotSynced)},
			TargetMatchers: []string{`alertname=~"` + informerWatchDown.Name + `|` + informerWatchDisconnects.Name + `|` + informerSyncSlow.Name + `|` + informerSyncLagHigh.Name + `"`},
			Equal:          ofProcess,
		},
		{
			SourceMatchers: []string{watch},
			TargetMatchers: []string{`alertname=~"` + informerSyncLagHigh.Name + `|` + informerAuditsFail.Name + `"`},
			Equal:          ofProcess,
		},
		{
			SourceMatchers: []string{watch},
			TargetMatchers: []string{name(informerCoverageGap)},
			Equal:          ofInformer,
		},
		{
			// Fast burn rates imply slow ones.
			SourceMatchers: []string{name(informerEventLagBurn), severity(catalog.Page)},
			TargetMatchers: []string{name(informerEventLagBurn), severity(catalog.Ticket)},
			Equal:          ofInformer,
		},
		{
			SourceMatchers: []string{name(controllerQueueBlocked)},
			TargetMatchers: []string{`alertname=~"` + controllerQueueDeep.Name + `|` + controllerWorkerBusy.Name + `"`},
			Equal:          ofQueue,
		},
		{
			SourceMatchers: []string{name(controllerQueueSlow)},
			TargetMatchers: []string{name(controllerQueueDeep)},
			Equal:          []string{"cluster", "job", "name"},
		},
		{
			SourceMatchers: []string{name(controllerLeaderMissing)},
			TargetMatchers: []string{`alertname=~"` + controllerLeaderChanges.Name + `|` + controllerLeaderSlowRenewals.Name + `"`},
			Equal:          ofLock,
		},
		{
			// Slow renewals cause leader transitions, which matter more.
			SourceMatchers: []string{name(controllerLeaderChanges)},
			TargetMatchers: []string{name(controllerLeaderSlowRenewals)},
			Equal:          ofLock,
		},
		{
			// The same election, seen from inside and from outside.
			SourceMatchers: []string{name(controllerLeaderMissing)},
			TargetMatchers: []string{name(clusterLeaseExpired)},
			Equal:          []string{"cluster", "lock"},
		},
		{
			SourceMatchers: []string{name(clusterLeaseExpired)},
			TargetMatchers: []string{name(clusterLeaseChanges)},
			Equal:          ofLease,
		},
		{
			// A Namespace stays Terminating because an object in it does.
			SourceMatchers: []string{name(clusterObjectHeld)},
			TargetMatchers: []string{name(clusterNamespaceStuck)},
			Equal:          []string{"cluster", "namespace"},
		},
	}...)
	for i := range list {
		list[i].Equal = c.names(list[i].Equal)
	}
	return list
}

// bySeverity returns the route of a severity, for one team unless team is empty.
func bySeverity(team, severity string, ticketRepeat time.Duration) route {
	r := route{Receiver: receiverName(team, severity), Matchers: []string{SeverityLabel + `="` + severity + `"`}}
	if team != "" {
		r.Matchers = append([]string{`team="` + team + `"`}, r.Matchers...)
	}
	if severity != string(catalog.Page) {
		r.RepeatInterval = catalog.FormatDuration(ticketRepeat)
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
func teamRoutes(teams map[string]map[string]string, ticketRepeat time.Duration) (routes []route, list []receiver) {
	for _, team := range slices.Sorted(maps.Keys(teams)) {
		for _, severity := range receivers {
			if address, ok := teams[team][severity]; ok {
				routes = append(routes, bySeverity(team, severity, ticketRepeat))
				list = append(list, receiver{Name: receiverName(team, severity), Webhooks: []webhook{{URL: address, SendResolved: true}}})
			}
		}
	}
	return routes, list
}

func webhookReceivers(urls map[string]string) []receiver {
	list := make([]receiver, len(receivers))
	for i, severity := range receivers {
		hook := webhook{URL: urls[severity], SendResolved: true}
		if hook.URL == "" {
			hook.URLFile = SecretsDir + "/" + severity + "-url"
		}
		list[i] = receiver{Name: severity, Webhooks: []webhook{hook}}
	}
	return list
}

func orDefault(d, otherwise time.Duration) string {
	if d == 0 {
		d = otherwise
	}
	return catalog.FormatDuration(d)
}
