package alerts

import (
	"fmt"
	"maps"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

var informerSyncLagHigh = Alert{
	Name:      "InformerSyncLagHigh",
	Objective: catalog.Objectives.SyncLag,
	Reason:    "one cache is stale, and usually catches up by itself",
	labels:    ofProcess,
	expr:      `k8s_informer_sync_lag_seconds{@} > $threshold`,
	summary:   someInformer + " is {{ $value | humanizeDuration }} behind the API server.",
	description: someInformer + inProcess + " is {{ $value | humanizeDuration }} behind the API server; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Unless:  "the lag grows and users see stale data",
		Meaning: "The informer has been behind the API server by more than $objective for $for: its watch is down, a handler has not finished an event, or freshness checks fail or find changes that the cache lacks. An idle informer has no lag.",
		Impact:  "Controllers act on old state: they create duplicates, miss deletions for a while, and update status late.",
		Commands: []Step{
			podLog("reflector|watch|timeout"),
			goroutines,
			restartPod,
		},
		Queries: []Step{
			{"Watch: 0 is down. The lag then grows by one second per second.", `k8s_informer_watch_connected{@, ` + ofThisProcess + ofThisInformer + `}`},
			{"Handlers with pending events. One of them holds up the informer.", `k8s_informer_handler_pending_events{@, ` + ofThisProcess + ofThisInformer + `} > 0`},
			{"Freshness checks. `lagging`, `error`: the connection is dead, but was never closed.", `sum by (result) (` + prom.Occurred(`k8s_informer_freshness_checks_total{@, `+ofThisProcess+ofThisInformer+`}`, "5m") + `) > 0`},
		},
		Causes: []string{
			"Load of the API server: check its CPU, latency and priority and fairness, and the number of programs with this alert.",
			"Watch down: see InformerWatchDown.",
			"Watch up, checks `lagging` or `error`: a lost node, load balancer or firewall drops the connection silently. client-go closes it within 45 s with HTTP/2; through a proxy with HTTP/1.1, restart the process.",
			"Stuck or slow handler: save a goroutine dump, then restart. A handler should only add a key to a queue.",
			"After a start or a mass change, this is temporary: check that pending events decrease.",
		},
		Resolves: "when `k8s_informer_sync_lag_seconds` falls to $objective. It is 0 in a healthy informer.",
		Escalate: controllerTeam + ", or " + apiServerTeam + " if several programs have this alert",
	},
}

var informerEventLagBurn = Alert{
	Name:      "InformerEventLagBurn",
	Objective: catalog.Objectives.EventLag,
	Reason:    "page: at this rate, a month's error budget lasts two to five days; ticket: less than a month",
	labels:    ofInformer,
	summary:   someInformer + " is burning its event lag error budget.",
	description: "{{ $value | humanizePercentage }} of the events for the {{ $labels.informer_type }} informer in " + program +
		"$instance took longer than $objective from receipt until the handler returned, over the last $long. " +
		"The objective allows $budget over 30 days; this is a burn rate of $factor or more.",
	record: eventLagRecords,
	long:   longEventLagRecords,
	expand: eventLagAlerts,
	Runbook: Runbook{
		Meaning: "99% of events must be handled within $objective. The error budget of 30 days is burning too fast in two windows. The long one, in the label `window`, shows that the loss is significant; the short one, that it continues. The fastest burn is measured for each process, the others for all processes of the program together.",
		Impact:  "Controllers react late to changes. A page means that a month's error budget lasts a few days; a ticket means that it does not last the month.",
		Commands: []Step{
			listPods,
			podUsage,
			restartProgram,
		},
		Queries: []Step{
			{"Slow handlers. No result for the exporter, which has one handler.", `histogram_quantile(0.99, sum by (@le, @pod, handler) (rate(k8s_informer_handler_duration_seconds@bucket{@, ` + ofThisProgram + ofThisInformer + `}[5m])))`},
			{"Pending events.", `max by (@pod, handler) (k8s_informer_handler_pending_events{@, ` + ofThisProgram + ofThisInformer + `})`},
			{"Events per second: more than before?", `sum by (@pod) (rate(k8s_informer_watch_events_total{@, ` + ofThisProgram + ofThisInformer + `}[5m]))`},
		},
		Causes: []string{
			"Handlers that do more than add a key to a queue: move the work into workers. A restart helps only a stuck handler.",
			"A process short of CPU: raise its limit.",
			"Too many events: find the writer and stop it, or narrow the watched scope.",
			"If the objective is too strict, change `event_lag` to another bucket of the histogram. It applies to all programs.",
		},
		Resolves: "when events have been handled in time for the short window: 5 minutes for the fastest burn. See the first query.",
		Escalate: controllerTeam,
	},
}

// eventLagAlerts returns one rule for each pair of windows, distinguished by the label window.
func eventLagAlerts(a Alert, o catalog.Objective, c Config) []Rule {
	var rules []Rule
	for _, b := range o.BurnRates {
		own := o
		own.For, own.Severity = b.For, b.Severity
		limit := fmt.Sprintf("(%s * %s)", catalog.FormatNumber(b.Factor), catalog.FormatNumber(o.Allowed()))
		a.expr = fmt.Sprintf(`
%s > %s
and
%s > %s
and
%s >= $count
`, readLong(o, recordSlow, b.Long), limit, readLong(o, recordSlow, b.Short), limit, readLong(o, recordCount, b.Long))

		process := ""
		if b.PerInstance {
			process = c.series().Fill(inProcess)
		}
		r := a.rule(own, c)
		r.Annotations = maps.Clone(r.Annotations)
		r.Annotations[DescriptionAnnotation] = strings.NewReplacer(
			"$long", catalog.FormatDuration(b.Long), "$budget", o.Budget(), "$instance", process, "$factor", catalog.FormatNumber(b.Factor),
		).Replace(r.Annotations[DescriptionAnnotation])
		r.Labels["window"] = catalog.FormatDuration(b.Long)
		rules = append(rules, r)
	}
	return rules
}
