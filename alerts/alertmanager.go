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
	silent := route{Receiver: null, Matchers: []string{alertname(apiUnreachable), MutesLabel + `!=""`}}
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

func alertname(a Alert) string { return `alertname="` + a.Name + `"` }

// hasSeverity returns the matcher of a severity.
func (c Config) hasSeverity(s catalog.Severity) string {
	return c.series().SeverityLabel() + `="` + c.Severity(s) + `"`
}

// kubeAPIDown is the alert of kubernetes-mixin for an API server that is not scraped.
const kubeAPIDown = "KubeAPIDown"

// outage returns rules that mute the effects of an unreachable API server: tickets for longer than pages. Each rule has one
// source per cluster: when one of several is removed after it has resolved, Alertmanager 0.31 forgets the others until they are
// sent again.
func outage(c Config) []inhibition {
	follow := followFromOutage()
	names := make([]string, len(follow))
	for i, a := range follow {
		names[i] = a.Name
	}
	targets := `alertname=~"` + strings.Join(names, "|") + `"`
	isPage := c.hasSeverity(catalog.Page)
	list := []inhibition{
		{
			SourceMatchers: []string{alertname(apiUnreachable), mutes(catalog.Ticket)},
			TargetMatchers: []string{targets, strings.Replace(isPage, "=", "!=", 1)},
			Equal:          []string{"cluster"},
		},
		{
			SourceMatchers: []string{alertname(apiUnreachable), mutes(catalog.Page)},
			TargetMatchers: []string{targets, isPage},
			Equal:          []string{"cluster"},
		},
	}
	if c.Alertmanager.KubeAPIDown {
		list = append(list, inhibition{
			SourceMatchers: []string{`alertname="` + kubeAPIDown + `"`},
			TargetMatchers: []string{`alertname=~"` + strings.Join(append(names, apiUnreachable.Name), "|") + `"`},
			Equal:          []string{"cluster"},
		})
	}
	return list
}

// mutes returns the matcher of rules that only mute others.
func mutes(s catalog.Severity) string { return MutesLabel + `="` + string(s) + `"` }

// inhibitions returns rules that mute the effects of a cause. An outage of the API server mutes everything that follows from
// it. The other rules form chains, from cause to effect: exporter absent, not synced, watch down, lag; blocked, slow, deep queue;
// no leader, leader transitions; terminating object, its Namespace. An alert on one process inhibits only alerts on the same
// process. Except in an outage, and for the exporter's own informers while it is absent, a ticket never inhibits a page.
func inhibitions(c Config) []inhibition {
	name := alertname
	watch := `alertname=~"` + informerWatchDown.Name + `|` + informerWatchDisconnects.Name + `"`
	list := append(outage(c), []inhibition{
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
			// A failure that lasts for a quarter of an hour has already raised one of these.
			SourceMatchers: []string{`alertname=~"` + informerNotSynced.Name + `|` + informerWatchDown.Name + `|` + informerWatchDisconnects.Name + `"`},
			TargetMatchers: []string{name(informerListWatchErrors)},
			Equal:          ofResource,
		},
		{
			// Fast burn rates imply slow ones.
			SourceMatchers: []string{name(informerEventLagBurn), c.hasSeverity(catalog.Page)},
			TargetMatchers: []string{name(informerEventLagBurn), c.hasSeverity(catalog.Ticket)},
			Equal:          ofInformer,
		},
		{
			// One replica has seen the versions go backwards, and another one has restarted since.
			SourceMatchers: []string{name(informerVersionRegression)},
			TargetMatchers: []string{name(informerStaleAfterRestart)},
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
			Equal:          ofProgram,
		},
		{
			// Most items of the controller fail, not one.
			SourceMatchers: []string{name(controllerReconcileErrors)},
			TargetMatchers: []string{name(controllerItemFailing)},
			Equal:          []string{"cluster", "@namespace", "job", "name", "controller"},
		},
		{
			// Workers start once their caches are synced.
			SourceMatchers: []string{name(informerNotSynced)},
			TargetMatchers: []string{name(controllerWorkersMissing)},
			Equal:          []string{"cluster", "@namespace", "job", "instance", "name"},
		},
		{
			// A transform that returns nil for an object of a list.
			SourceMatchers: []string{name(informerTransformDrops)},
			TargetMatchers: []string{name(informerEventsLost), `reason="list"`},
			Equal:          ofProcess,
		},
		{
			// Slow cleanups miss their deadline.
			SourceMatchers: []string{name(controllerCleanupOverdue)},
			TargetMatchers: []string{name(controllerCleanupSlow)},
			Equal:          []string{"cluster", "@namespace", "job", "name", "controller", "finalizer"},
		},
		{
			SourceMatchers: []string{name(controllerLeaderMissing)},
			TargetMatchers: []string{name(controllerLeaderChanges)},
			Equal:          append([]string{"@namespace"}, ofLock...),
		},
		{
			// Slow renewals have the namespace of the program, which may not be the namespace of the lock.
			SourceMatchers: []string{name(controllerLeaderMissing)},
			TargetMatchers: []string{name(controllerLeaderSlowRenewals)},
			Equal:          ofLock,
		},
		{
			// Slow renewals cause leader transitions, which matter more.
			SourceMatchers: []string{name(controllerLeaderChanges)},
			TargetMatchers: []string{name(controllerLeaderSlowRenewals)},
			Equal:          ofLock,
		},
		{
			// The same election, as its candidates and as the exporter report it.
			SourceMatchers: []string{name(controllerLeaderMissing)},
			TargetMatchers: []string{name(clusterLeaseExpired)},
			Equal:          []string{"cluster", "@namespace", "lock"},
		},
		{
			// client-go's metric has the name of the Lease, and the namespace of the program instead of the Lease's. A target outside of
			// Kubernetes has none, and could be any program's.
			SourceMatchers: []string{name(controllerLeaderMissing), `lease!=""`, c.name("@namespace") + `!=""`},
			TargetMatchers: []string{name(clusterLeaseExpired)},
			Equal:          []string{"cluster", "@namespace", "lease"},
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
