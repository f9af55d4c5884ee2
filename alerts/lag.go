package alerts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var informerSyncLagHigh = Alert{
	Name:      "InformerSyncLagHigh",
	Objective: catalog.Objectives.SyncLag,
	labels:    ofProcess,
	expr:      `k8s_informer_sync_lag_seconds{@} > $threshold`,
	summary:   someInformer + " is {{ $value | humanizeDuration }} behind the API server.",
	description: someInformer + " on {{ $labels.@instance }} is {{ $value | humanizeDuration }} behind the API server; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "The informer has been behind the API server by more than $objective for $for: its watch is down, a handler has not finished a received event, a freshness check found a change that the cache does not receive, or the API server has not responded to freshness checks for three intervals. An idle informer has no lag.",
		Impact:  "Controllers act on old state: they create duplicates, miss deletions for a while, and update status late.",
		Diagnosis: []Step{
			{"Check whether the watch is down. If so, the lag grows by one second per second.", `k8s_informer_watch_connected{@} == 0`},
			{"Otherwise, find the handler that holds up events.", `k8s_informer_handler_pending_events{@} > 0`},
			{"Check whether freshness checks find changes that the watch does not deliver (`lagging`) or get no response (`error`). If so, the connection is dead, but was never closed.", `sum by (@cluster, name, informer_type, result) (increase(k8s_informer_freshness_checks_total{@}[5m])) > 0`},
			{"Check the duration of handlers.", `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@}[5m])))`},
		},
		Mitigation: []string{
			"Watch down: see InformerWatchDown.",
			"Watch up, checks `lagging` or `error`: the path to the API server is silently broken, for example a lost node or load balancer, or a firewall that dropped the connection. With HTTP/2, client-go closes such a connection within 45 seconds. Where a proxy forces HTTP/1.1, restart the process.",
			"Slow handler: a handler should only add a key to a queue. Move API calls, locks and other waiting into workers.",
			"Stuck handler: take a goroutine dump (`/debug/pprof/goroutine?debug=2`) before restarting the process.",
			"A burst after a start or a mass change is temporary: check that pending events decrease.",
		},
	},
}

var informerEventLagBurn = Alert{
	Name:      "InformerEventLagBurn",
	Objective: catalog.Objectives.EventLag,
	labels:    ofInformer,
	summary:   someInformer + " burns its event lag budget.",
	description: "{{ $value | humanizePercentage }} of the events of the {{ $labels.informer_type }} informer of {{ $labels.name }}" + inCluster +
		" took longer than $objective from receipt to the return of the handler during the last $long. " +
		"The objective allows $budget over 30 days; this is a burn rate of $factor or more.",
	record: eventLagRecords,
	expand: eventLagAlerts,
	Runbook: Runbook{
		Meaning: "99% of events must be handled within the objective. The error budget burns too fast in both windows: the long one shows that the loss is significant, the short one that it continues. The label `window` is the long window; the shorter it is, the faster the burn. Windows with too few events for a quantile are ignored.",
		Impact:  "Controllers react late to changes. A page means that the budget of a month is used up within days, a ticket that it will not last.",
		Diagnosis: []Step{
			{"Find the informers and their event lag.", `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type) (rate(k8s_informer_event_lag_seconds_bucket{@}[5m])))`},
			{"Find slow handlers.", `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@}[5m])))`},
			{"Check whether there are more events than the handlers can process.", `max by (@cluster, name, informer_type) (sum by (@cluster, name, informer_type, @instance) (rate(k8s_informer_watch_events_total{@}[5m])))`},
			{"Check the pending events.", `max by (@cluster, name, informer_type, handler) (k8s_informer_handler_pending_events{@})`},
		},
		Mitigation: []string{
			"Handlers that do more than add a key to a queue: move the work into workers.",
			"A process short of CPU: check its throttling and raise its limit.",
			"Too many events: narrow the watched scope, or find the writer.",
			"If the objective is too strict for this program, change `event_lag` to another bucket of the histogram.",
		},
	},
}

// Names of the recording rules; the window is appended.
const (
	recordSlow  = "informer:k8s_informer_event_lag_seconds:slow_ratio_rate"
	recordCount = "informer:k8s_informer_event_lag_seconds_count:increase"
)

// eventLagRecords returns the share of late events over each window of the burn rates, and the number of events over the
// long ones. A window without events has no sample, instead of NaN.
func eventLagRecords(o catalog.Objective, c Config) []Rule {
	const slow = `
1 - (
  sum by (@cluster, @job, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_bucket{@, $bound}[%[1]s]))
/
  (sum by (@cluster, @job, name, informer_type, watch_namespace) (rate(k8s_informer_event_lag_seconds_count{@}[%[1]s])) > 0)
)`
	const count = `sum by (@cluster, @job, name, informer_type, watch_namespace) (increase(k8s_informer_event_lag_seconds_count{@}[%[1]s]))`

	var rules []Rule
	record := func(name, expr string, window time.Duration) {
		w := catalog.FormatDuration(window)
		if slices.ContainsFunc(rules, func(r Rule) bool { return r.Record == name+w }) {
			return // the short window of one pair may be the long one of another
		}
		rules = append(rules, Rule{Record: name + w, Expr: strings.TrimSpace(c.series().Fill(fmt.Sprintf(fill(o, expr), w)))})
	}
	for _, b := range o.BurnRates {
		record(recordSlow, slow, b.Short)
		record(recordSlow, slow, b.Long)
		record(recordCount, count, b.Long)
	}
	return rules
}

// eventLagAlerts returns one rule for each pair of windows, distinguished by the label window.
func eventLagAlerts(a Alert, o catalog.Objective, c Config) []Rule {
	var rules []Rule
	for _, b := range o.BurnRates {
		own := o
		own.For, own.Severity = b.For, b.Severity
		limit := fmt.Sprintf("(%s * %s)", catalog.FormatNumber(b.Factor), catalog.FormatNumber(o.Allowed()))
		a.expr = fmt.Sprintf(`
%s%s > %s
and
%s%s > %s
and
%s%s >= $count
`, recordSlow, catalog.FormatDuration(b.Long), limit, recordSlow, catalog.FormatDuration(b.Short), limit, recordCount, catalog.FormatDuration(b.Long))

		r := a.rule(own, c)
		r.Annotations = maps.Clone(r.Annotations)
		r.Annotations[DescriptionAnnotation] = strings.NewReplacer(
			"$long", catalog.FormatDuration(b.Long), "$budget", o.Budget(), "$factor", catalog.FormatNumber(b.Factor),
		).Replace(r.Annotations[DescriptionAnnotation])
		r.Labels["window"] = catalog.FormatDuration(b.Long)
		rules = append(rules, r)
	}
	return rules
}
