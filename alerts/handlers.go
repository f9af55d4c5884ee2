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
	Objective: catalog.Objectives.HandlerDuration,
	labels:    ofInformer,
	keep:      10 * time.Minute,
	// The 99th percentile of fewer than a hundred events is their maximum.
	expr: `
histogram_quantile($quantile, sum by (le, @cluster, @job, name, informer_type, watch_namespace, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @job, name, informer_type, watch_namespace, handler) (increase(k8s_informer_handler_duration_seconds_count{@}[$window])) >= $count
`,
	summary: "Handler {{ $labels.handler }} of {{ $labels.name }}" + inCluster + " is slow.",
	description: "Handler {{ $labels.handler }} of the {{ $labels.informer_type }} informer of {{ $labels.name }}" + inCluster +
		" takes {{ $value | humanizeDuration }} per event (99th percentile); the objective is at most $objective.",
	expand: handlerAlerts,
	Runbook: Runbook{
		Meaning: "The 99th percentile of the handler duration has exceeded its objective for $for, over windows of $window with at least $count events.",
		Impact:  "An informer delivers events to a handler one by one: a slow handler delays its later events, but not those of other handlers. Pending events use memory.",
		Diagnosis: []Step{
			{"Find the handlers, and check whether their duration increases.", `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, handler) (rate(k8s_informer_handler_duration_seconds_bucket{@}[5m])))`},
			{"Check for pending events.", `max by (@cluster, name, informer_type, handler) (k8s_informer_handler_pending_events{@})`},
			{"Check whether the caches lag.", `max by (@cluster, name, informer_type) (k8s_informer_sync_lag_seconds{@})`},
		},
		Mitigation: []string{
			"A handler should add a key to a queue and return. Move API calls, disk access, full channels and contended locks into workers.",
			"A CPU profile (`/debug/pprof/profile`) shows computation, a goroutine dump shows waiting.",
			"CPU throttling slows down all handlers at once.",
			"Give a handler that is meant to take longer its own objective: `handlers` in the generator's configuration.",
		},
	},
}

// handlerAlerts returns a rule for all handlers without their own threshold, and one for each handler that has one.
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
		r.Labels["handler"] = h // the result has it anyway, but promtool reports rules with equal labels as duplicates
		rules = append(rules, r)
	}
	return rules
}

var informerHandlerPanics = Alert{
	Name:      "InformerHandlerPanics",
	Objective: catalog.Objectives.HandlerPanics,
	labels:    ofProcess,
	expr:      `increase(k8s_informer_handler_panics_total{@}[$window]) > $threshold`,
	summary:   "Handler {{ $labels.handler }} of {{ $labels.name }}" + inCluster + " panics.",
	description: "Handler {{ $labels.handler }} of the {{ $labels.informer_type }} informer of {{ $labels.name }}" + inCluster +
		` on {{ $labels.@instance }} panicked {{ $value | printf "%.0f" }} times in $window.`,
	Runbook: Runbook{
		Meaning: "A handler panicked within the last $window. Unless the handler is decorated with `informer.Isolate`, the panic is not recovered, and client-go by default ends the process. If it ends before the next scrape, this alert does not fire: alert on container restarts as well.",
		Impact:  "The process restarts and lists everything again. If the same object always causes the panic, the process crash loops. With `informer.Isolate`, only this handler misses the event.",
		Diagnosis: []Step{
			{"Find the handler.", `sum by (@cluster, name, informer_type, handler) (increase(k8s_informer_handler_panics_total{@}[1h])) > 0`},
			{"Find the stack trace in the log of the process: search for `panic`, also in the log of the container before its restart (`kubectl logs --previous`).", ""},
		},
		Mitigation: []string{
			"The usual cause is a missing type assertion for `cache.DeletedFinalStateUnknown` in OnDelete.",
			"If one object causes the panic, change or remove that object until the fix is released.",
		},
	},
}

var informerEventsLost = Alert{
	Name:      "InformerEventsLost",
	Objective: catalog.Objectives.EventsLost,
	labels:    ofProcess,
	expr:      `increase(k8s_informer_events_lost_total{@, reason="overrun"}[$window]) > $threshold`,
	summary:   someInformer + " exceeded its limit of remembered events.",
	description: someInformer + ` on {{ $labels.@instance }} forgot the receive time of {{ $value | printf "%.0f" }} events in $window. ` +
		"They still reach their handlers, with an unknown lag.",
	Runbook: Runbook{
		Meaning: "More events were pending for a handler than the library remembers (`overrun`), so the receipt times of the oldest are lost. The events themselves are not: they are in client-go's buffer, which is unbounded.",
		Impact:  "Event lag and sync lag are lower bounds; the real lag is larger. The buffer grows until the handler catches up or the process runs out of memory.",
		Diagnosis: []Step{
			{"Find the handler with pending events.", `topk(10, k8s_informer_handler_pending_events{@})`},
			{"Check whether it is stuck or slow.", `sum by (@cluster, name, informer_type, handler) (rate(k8s_informer_handler_duration_seconds_count{@}[5m]))`},
		},
		Mitigation: []string{
			"See InformerHandlerSlow. A stuck handler needs a goroutine dump and a restart of the process.",
			"A burst after a start is temporary.",
		},
	},
}
