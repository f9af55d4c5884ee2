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
	Objective: catalog.SyncLag,
	labels:    ofProcess,
	expr:      `k8s_informer_sync_lag_seconds{@} > $threshold`,
	summary:   someInformer + " trails the API server.",
	description: someInformer + " on {{ $labels.@instance }} trails the API server by {{ $value | humanizeDuration }}; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "The informer is known to trail the API server by more than $objective, for $for: its watch is down, an event that it received has not been finished by some handler, a freshness check saw a change that the cache does not get, or the API server has not answered these checks for three intervals. The lag is 0 on a healthy watch, however little happens.",
		Impact:  "Controllers decide on old state: duplicates are created, deletions are missed for a while, status is late.",
		Diagnosis: []Step{
			{"Is the watch down? Then the lag grows by a second each second.", `k8s_informer_watch_connected{@} == 0`},
			{"If not, which handler holds up the events?", `k8s_informer_handler_pending_events{@} > 0`},
			{"Do freshness checks see what the watch does not bring (`lagging`), or get no answer (`failed`)? Then the connection is dead without having been closed.", `sum by (@cluster, name, informer_type, result) (increase(k8s_informer_freshness_checks_total{@}[5m])) > 0`},
			{"How long does it take for one event?", `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@}[5m])))`},
		},
		Mitigation: []string{
			"Watch down: follow InformerWatchDown.",
			"Watch up and checks `lagging` or `failed`: the path to the API server is broken in silence (a node or load balancer that is gone, a firewall that forgets connections). client-go closes such a connection after 45 seconds at most if it uses HTTP/2; where a proxy forces HTTP/1.1, restart the process.",
			"Slow handler: a handler should only put a key into a queue. Move API calls, locks and other waiting into the workers behind it.",
			"Handler that hangs: take a goroutine dump (`/debug/pprof/goroutine?debug=2`) before restarting the process; it shows what it waits for.",
			"A burst after a start or a mass change passes by itself; look at whether the pending events go down.",
		},
	},
}

var informerEventLagBurn = Alert{
	Name:      "InformerEventLagBurn",
	Objective: catalog.EventLag,
	labels:    ofInformer,
	summary:   someInformer + " is late with too many events.",
	description: "{{ $value | humanizePercentage }} of the events of the {{ $labels.informer_type }} informer of {{ $labels.name }}" + inCluster +
		" took longer than $objective from their receipt to the return of the handler during the last $long. " +
		"The objective allows $budget over 30 days; this is $factor times as fast or more.",
	expand: eventLagAlerts,
	Runbook: Runbook{
		Meaning: "99 % of events are to be handled within the objective. More are late than that allows: so many over a long window that it matters, and still so many over a short one. The label `window` is the long window; the shorter it is, the faster the budget is used up. Windows with fewer events than a quantile needs are ignored.",
		Impact:  "Controllers react late to changes. A page means that the budget of a month is gone within days, a ticket that it will not last.",
		Diagnosis: []Step{
			{"Which informers are late, and by how much?", `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type) (rate(k8s_informer_event_lag_seconds_bucket{@}[5m])))`},
			{"Which handlers are slow?", `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@}[5m])))`},
			{"Or are there merely more events than the handlers can take?", `max by (@cluster, name, informer_type) (sum by (@cluster, name, informer_type, @instance) (rate(k8s_informer_watch_events_total{@}[5m])))`},
			{"How many events wait now?", `max by (@cluster, name, informer_type, handler) (k8s_informer_handler_pending_events{@})`},
		},
		Mitigation: []string{
			"Handlers that do more than put a key into a queue: move the work into workers.",
			"A process short of CPU: look at its throttling and raise its limit.",
			"Too many events: narrow what is watched, or find out who writes so much.",
			"If the objective is too strict for this program, change `event_lag` to another bucket of the histogram.",
		},
	},
}

// Names of the recording rules; the window is appended.
const (
	recordSlow  = "informer:k8s_informer_event_lag_seconds:slow_ratio_rate"
	recordCount = "informer:k8s_informer_event_lag_seconds_count:increase"
)

// eventLagRecords returns the share of late events over each window of the burn rates, and their number over the long
// ones. A window without events has no share, rather than one that is not a number.
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
			return // a short window of one pair may be the long one of another
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

// eventLagAlerts returns one rule for each pair of windows, told apart by the label window.
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
