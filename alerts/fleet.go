package alerts

import (
	"regexp"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// fleetGroup is the name of the group of recording rules for many clusters.
const fleetGroup = "fleet"

// fleetWindow returns the range of the group's rates, which spans several scrapes.
func (c Config) fleetWindow() string {
	return catalog.FormatDuration(max(5*time.Minute, 4*c.Targets.ScrapeInterval()))
}

// fleetRules record one series per cluster and signal, so that a dashboard for hundreds of clusters reads hundreds of series, and
// a central Prometheus needs to store no others. The exceptions are firing alerts, which are also recorded by program, and muted alerts,
// which the Overview reads as well.
func fleetRules(c Config) []Rule {
	rate := func(metric, matchers string) string {
		return `sum by (@cluster) (rate(` + metric + `{@` + matchers + `}[` + c.fleetWindow() + `]))`
	}
	// The ratio is 0 while there is no error series, and absent without attempts.
	ratio := func(metric, bad string) string {
		return `(` + rate(metric, `, `+bad) + ` or 0 * ` + rate(metric, ``) + `) / (` + rate(metric, ``) + ` > 0)`
	}
	var list []Rule
	for _, r := range []struct{ record, expr string }{
		{"cluster:informer_exporter_jobs:count", `count by (@cluster) (group by (@cluster, @job) (k8s_informer_synced{@}) or group by (@cluster, @job) (workqueue_depth{@}))`},
		{recordMuted, mutedAlerts(c)},
		{"cluster:informer_exporter_alerts:count", `count by (@cluster, @severity) (` + sentAlerts() + `)`},
		{"cluster_name:informer_exporter_alerts:count", `count by (@cluster, name, @severity) (` + sentAlerts() + `)`},
		{"cluster:k8s_informer_synced:missing", `sum by (@cluster) (k8s_informer_synced{@} == bool 0)`},
		{"cluster:k8s_informer_watch_connected:missing", `sum by (@cluster) (k8s_informer_watch_connected{@} == bool 0)`},
		{"cluster:k8s_informer_sync_lag_seconds:max", `max by (@cluster) (k8s_informer_sync_lag_seconds{@})`},
		{"cluster:controller_leader:missing", `sum by (@cluster) ((max by (@cluster, name, lock) (controller_leader{@, name!=""}) or max by (@cluster, @namespace, name, lock) (` + strings.TrimSpace(upstreamElections) + `)) == bool 0)`},
		{"cluster:controller_reconcile_errors:ratio_rate", ratio("controller_reconcile_total", `result=~"error|terminal|panic"`)},
		{"cluster:k8s_client_request_errors:ratio_rate", ratio("k8s_client_requests_total", `code=~"5..|429|error"`)},
	} {
		list = append(list, Rule{Record: r.record, Expr: c.query(c.widen(r.expr))})
	}
	return list
}

// sentAlerts returns an expression for the alerts that are firing and not muted, one per alert, program and severity: one notification,
// unless Alertmanager groups alerts differently.
func sentAlerts() string {
	return `group by (@cluster, alertname, name, @severity) (` + ownAlerts() + ` unless ` + recordMuted + `)`
}

// ownAlerts selects the firing alerts of this package, and no others with similar names.
func ownAlerts() string {
	quoted := make([]string, len(All()))
	for i, name := range names() {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return `ALERTS{alertname=~"` + strings.Join(quoted, "|") + `", alertstate="firing"}`
}
