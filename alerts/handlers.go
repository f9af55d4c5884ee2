package alerts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var informerHandlerSlow = Alert{
	Name:      "InformerHandlerSlow",
	Objective: catalog.HandlerDuration,
	labels:    ofInformer,
	keep:      10 * time.Minute,
	// A 99th percentile of fewer than a hundred events is their maximum.
	expr: `
histogram_quantile($quantile, sum by (le, @cluster, @job, name, informer_type, watch_namespace, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @job, name, informer_type, watch_namespace, handler) (increase(k8s_informer_handler_duration_seconds_count{@}[$window])) >= $count
`,
	summary: "Handler {{ $labels.handler }} of {{ $labels.name }}" + inCluster + " is slow.",
	description: "The handler {{ $labels.handler }} of the {{ $labels.informer_type }} informer of {{ $labels.name }}" + inCluster +
		" takes {{ $value | humanizeDuration }} for an event (99th percentile); the objective is at most $objective.",
	expand: handlerAlerts,
	Runbook: Runbook{
		Meaning: "The 99th percentile of the time that a handler takes for one event has been above its objective for $for, over windows of $window with at least $count events.",
		Impact:  "Events of one informer are given to a handler one after the other: a slow handler delays all events behind it, though not those of other handlers. Pending events take memory.",
		Diagnosis: []Step{
			{"Which handlers, and does it grow?", `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@}[5m])))`},
			{"Do events pile up?", `max by (@cluster, name, informer_type, handler) (k8s_informer_handler_pending_events{@})`},
			{"Are readers late because of it?", `max by (@cluster, name, informer_type) (k8s_informer_sync_lag_seconds{@})`},
		},
		Mitigation: []string{
			"A handler should put a key into a queue and return. API calls, disk, channels that may be full and contended locks belong into the workers.",
			"A CPU profile (`/debug/pprof/profile`) shows computing, a goroutine dump shows waiting.",
			"CPU throttling makes every handler slow at once.",
			"A handler that is meant to take longer gets a limit of its own: `handlers` in the generator's configuration.",
		},
	},
}

// handlerAlerts returns a rule for the handlers without a limit of their own, and one for each handler with one.
func handlerAlerts(a Alert, o catalog.Objective, c Config) []Rule {
	own := slices.Sorted(maps.Keys(c.HandlerThresholds))
	if len(own) == 0 {
		return []Rule{a.rule(o, c)}
	}
	quoted := make([]string, len(own))
	for i, h := range own {
		quoted[i] = regexp.QuoteMeta(h)
	}
	rules := []Rule{a.rule(o, c.only(fmt.Sprintf("handler!~%q", strings.Join(quoted, "|"))))}
	for _, h := range own {
		o.Threshold = c.HandlerThresholds[h]
		r := a.rule(o, c.only(fmt.Sprintf("handler=%q", h)))
		r.Labels["handler"] = h // as its result has anyway; promtool takes rules without a difference in labels for copies
		rules = append(rules, r)
	}
	return rules
}

var informerHandlerPanics = Alert{
	Name:      "InformerHandlerPanics",
	Objective: catalog.HandlerPanics,
	labels:    ofProcess,
	expr:      `increase(k8s_informer_handler_panics_total{@}[$window]) > $threshold`,
	summary:   "Handler {{ $labels.handler }} of {{ $labels.name }}" + inCluster + " panics.",
	description: "The handler {{ $labels.handler }} of the {{ $labels.informer_type }} informer of {{ $labels.name }}" + inCluster +
		` on {{ $labels.@instance }} panicked {{ $value | printf "%.0f" }} times in $window; it must not happen.`,
	Runbook: Runbook{
		Meaning: "A handler panicked within the last $window. Panics are counted in passing and not recovered, so by default client-go then ends the process. If the process ends before the next scrape, this alert sees nothing: alert on restarts of containers as well.",
		Impact:  "The event is lost for that handler, or the process restarts and lists everything again; with an object that always causes the panic, it does so again and again.",
		Diagnosis: []Step{
			{"Which handler?", `sum by (@cluster, name, informer_type, handler) (increase(k8s_informer_handler_panics_total{@}[1h])) > 0`},
			{"The stack is in the log of the process: search for `panic`, and in the log of the container before the restart (`kubectl logs --previous`).", ""},
		},
		Mitigation: []string{
			"A type assertion on `cache.DeletedFinalStateUnknown` that is missing in OnDelete is the usual cause.",
			"If one object causes it, changing or removing that object stops the loop until a fix is out.",
		},
	},
}

var informerEventsLost = Alert{
	Name:      "InformerEventsLost",
	Objective: catalog.EventsLost,
	labels:    ofProcess,
	expr:      `increase(k8s_informer_events_lost_total{@, reason="overrun"}[$window]) > $threshold`,
	summary:   someInformer + " loses events from view.",
	description: someInformer + ` on {{ $labels.@instance }} lost {{ $value | printf "%.0f" }} events from view in $window ({{ $labels.reason }}). ` +
		"With an overrun they reach their handlers, but later than can be told.",
	Runbook: Runbook{
		Meaning: "More events were waiting for a handler than are remembered (`overrun`), so the times at which the oldest were received are gone. The events themselves are not: they wait in client-go's buffer, which has no bound.",
		Impact:  "Event lag and sync lag are lower bounds now; the real lag is larger. The buffer takes memory until the handler catches up or the process is killed for it.",
		Diagnosis: []Step{
			{"Which handler is behind?", `topk(10, k8s_informer_handler_pending_events{@})`},
			{"Does it stand still, or is it slow?", `sum by (@cluster, name, informer_type, handler) (rate(k8s_informer_handler_duration_seconds_count{@}[5m]))`},
		},
		Mitigation: []string{
			"Follow InformerHandlerSlow; a handler that stands still needs a goroutine dump and a restart of the process.",
			"A burst after a start passes by itself.",
		},
	},
}
