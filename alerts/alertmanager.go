package alerts

import (
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// SecretsDir is where Alertmanager finds the files page-url, ticket-url and info-url with the addresses of receivers
// that the configuration gives none for.
const SecretsDir = "/etc/alertmanager/secrets/informer-exporter"

const info = "info"

// receivers are named like the severities that they serve.
var receivers = []string{string(catalog.Page), string(catalog.Ticket), info}

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
	Webhooks []webhook `json:"webhook_configs"`
}

type webhook struct {
	URL          string `json:"url,omitempty"`
	URLFile      string `json:"url_file,omitempty"`
	SendResolved bool   `json:"send_resolved"`
}

// AlertmanagerFile returns an Alertmanager configuration for a valid configuration: routes by severity, and inhibitions
// that leave the cause when it explains the others.
func AlertmanagerFile(c Config) ([]byte, error) {
	am := c.Alertmanager
	groupBy := am.GroupBy
	if groupBy == nil {
		// Not by informer_type: when an API server fails, that is one notification and not one for each resource.
		groupBy = []string{"alertname", "cluster", "name"}
	}
	ticketRepeat := am.RepeatInterval
	if ticketRepeat == 0 {
		ticketRepeat = 24 * time.Hour
	}
	return yaml.Marshal(alertmanagerFile{
		Global: map[string]string{"resolve_timeout": "5m"},
		Route: route{
			Receiver:       string(catalog.Ticket),
			GroupBy:        groupBy,
			GroupWait:      orDefault(am.GroupWait, 30*time.Second),
			GroupInterval:  orDefault(am.GroupInterval, 5*time.Minute),
			RepeatInterval: orDefault(am.RepeatInterval, 4*time.Hour),
			Routes: []route{
				{Receiver: string(catalog.Page), Matchers: []string{`severity="page"`}},
				{Receiver: string(catalog.Ticket), Matchers: []string{`severity="ticket"`}, RepeatInterval: catalog.FormatDuration(ticketRepeat)},
				{Receiver: info, Matchers: []string{`severity="info"`}, RepeatInterval: catalog.FormatDuration(ticketRepeat)},
			},
		},
		InhibitRules: inhibitions(),
		Receivers:    webhookReceivers(am.WebhookURLs),
	})
}

// inhibitions go from the cause to what follows from it: absent, not synced, watch, lag; a queue that is blocked, slow,
// deep; no leader, leaders that change; an object held in deletion, its
// Namespace. Alerts about one process hide only what that same process suffers, and a page is
// never hidden by a ticket.
func inhibitions() []inhibition {
	name := func(a Alert) string { return `alertname="` + a.Name + `"` }
	watch := `alertname=~"` + informerWatchDown.Name + `|` + informerWatchDisconnects.Name + `"`
	return []inhibition{
		{
			// The exporter's own informers only: programs with the library report about themselves.
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
			Equal:          slices.Clone(ofProcess),
		},
		{
			SourceMatchers: []string{watch},
			TargetMatchers: []string{`alertname=~"` + informerSyncLagHigh.Name + `|` + informerAuditsFail.Name + `"`},
			Equal:          slices.Clone(ofProcess),
		},
		{
			SourceMatchers: []string{watch},
			TargetMatchers: []string{name(informerCoverageGap)},
			Equal:          slices.Clone(ofInformer),
		},
		{
			// Of the burn rates, the fast ones explain the slow ones.
			SourceMatchers: []string{name(informerEventLagBurn), `severity="page"`},
			TargetMatchers: []string{name(informerEventLagBurn), `severity="ticket"`},
			Equal:          slices.Clone(ofInformer),
		},
		{
			SourceMatchers: []string{name(controllerQueueBlocked)},
			TargetMatchers: []string{`alertname=~"` + controllerQueueDeep.Name + `|` + controllerWorkerBusy.Name + `"`},
			Equal:          slices.Clone(ofQueue),
		},
		{
			SourceMatchers: []string{name(controllerQueueSlow)},
			TargetMatchers: []string{name(controllerQueueDeep)},
			Equal:          []string{"cluster", "job", "name"},
		},
		{
			SourceMatchers: []string{name(controllerLeaderMissing)},
			TargetMatchers: []string{`alertname=~"` + controllerLeaderChanges.Name + `|` + controllerLeaderSlowRenewals.Name + `"`},
			Equal:          slices.Clone(ofLock),
		},
		{
			// Renewals are lost because they are slow; but a lock that keeps changing hands is what matters.
			SourceMatchers: []string{name(controllerLeaderChanges)},
			TargetMatchers: []string{name(controllerLeaderSlowRenewals)},
			Equal:          slices.Clone(ofLock),
		},
		{
			SourceMatchers: []string{name(clusterLeaseExpired)},
			TargetMatchers: []string{name(clusterLeaseChanges)},
			Equal:          slices.Clone(ofLease),
		},
		{
			// A Namespace stays because something in it does.
			SourceMatchers: []string{name(clusterObjectHeld)},
			TargetMatchers: []string{name(clusterNamespaceStuck)},
			Equal:          []string{"cluster", "namespace"},
		},
	}
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
