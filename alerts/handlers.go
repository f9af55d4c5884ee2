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
	Reason:    "one handler is slow; InformerEventLagBurn pages if events stay late",
	labels:    ofInformer,
	keep:      10 * time.Minute,
	// The 99th percentile of fewer than a hundred events is their maximum.
	expr: `
histogram_quantile($quantile, sum by (@le, @cluster, @namespace, @job, name, informer_type, watch_namespace, handler) (rate(k8s_informer_handler_duration_seconds@bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @namespace, @job, name, informer_type, watch_namespace, handler) (increase(k8s_informer_handler_duration_seconds@count{@}[$window])) >= $count
`,
	summary: "Handler {{ $labels.handler }} of " + program + inCluster + " is slow.",
	description: "Handler {{ $labels.handler }} of the {{ $labels.informer_type }} informer of " + program + inCluster +
		" takes {{ $value | humanizeDuration }} per event (99th percentile); the objective is at most $objective.",
	expand: handlerAlerts,
	Runbook: Runbook{
		Meaning: "The 99th percentile of the handler duration has exceeded its objective for $for, over windows of $window with at least $count events.",
		Impact:  "An informer delivers events to a handler one by one: a slow handler delays its later events, but not those of other handlers. Pending events use memory.",
		Commands: []Step{
			listPods,
			podUsage,
			replicaLog("timeout|slow|throttl"),
		},
		Queries: []Step{
			{"Duration by process.", `histogram_quantile(0.99, sum by (@le, @pod) (rate(k8s_informer_handler_duration_seconds@bucket{@, ` + ofThisProgram + ofThisInformer + `, handler="$HANDLER"}[5m])))`},
			{"Pending events.", `max by (@pod) (k8s_informer_handler_pending_events{@, ` + ofThisProgram + ofThisInformer + `, handler="$HANDLER"})`},
			{"Sync lag of the cache.", `max by (@pod) (k8s_informer_sync_lag_seconds{@, ` + ofThisProgram + ofThisInformer + `})`},
		},
		Causes: []string{
			"The handler does more than add a key to a queue: move API calls, disk access and locks into workers.",
			"A process short of CPU, which slows down all its handlers: raise its limit.",
			"A CPU profile (`/debug/pprof/profile`) shows computation, a [goroutine dump](" + onCallPage + "#goroutines) shows waiting.",
			"A handler that is meant to take longer: set its own objective, `handlers` in the generator's configuration.",
		},
		Resolves: "10 minutes after the 99th percentile has fallen to the objective, or there are fewer than $count events: see the first query.",
		Escalate: controllerTeam,
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
	Reason:    "the process restarts by itself; the fix needs a new release",
	labels:    ofProcess,
	expr:      `increase(k8s_informer_handler_panics_total{@}[$window]) > $threshold`,
	summary:   "Handler {{ $labels.handler }} of " + program + inCluster + " panics.",
	description: "Handler {{ $labels.handler }} of the {{ $labels.informer_type }} informer of " + program + inCluster +
		inProcess + ` panicked {{ $value | printf "%.0f" }} times in $window.`,
	Runbook: Runbook{
		Unless:  "the Pod crash loops and no replica is ready",
		Meaning: "A handler panicked within the last $window. Unless it is decorated with `informer.Isolate`, the panic is not recovered, and the process crashes.",
		Impact:  "The process restarts and lists everything again. If the same object always causes the panic, the process crash loops. With `informer.Isolate`, only this handler misses the event.",
		Commands: []Step{
			stackTrace,
			describePod,
			rollouts,
		},
		Queries: []Step{
			{"Panics by handler, over all processes.", `sum by (@namespace, @pod, name, informer_type, handler) (increase(k8s_informer_handler_panics_total{@, ` + inThisCluster + `}[1h])) > 0`},
		},
		Causes: []string{
			"The usual cause is a missing type assertion for `cache.DeletedFinalStateUnknown` in OnDelete.",
			"One object causes the panic: change or remove that object until the fix is released.",
		},
		Resolves: "$window after the last panic. The Pod then has no further restarts.",
		Escalate: controllerTeam,
	},
}

var informerEventsLost = Alert{
	Name:      "InformerEventsLost",
	Objective: catalog.Objectives.EventsLost,
	Reason:    "the measurement is lost, not the events",
	labels:    ofProcess,
	expr:      `increase(k8s_informer_events_lost_total{@, reason="overrun"}[$window]) > $threshold`,
	summary:   someInformer + " lost the receive times of events.",
	description: someInformer + inProcess + ` lost the receive times of {{ $value | printf "%.0f" }} events in $window. ` +
		"They still reach their handlers, with an unknown lag.",
	Runbook: Runbook{
		Unless:  "the memory of the process is near its limit",
		Meaning: "More events were pending for a handler than the library remembers (`overrun`), so the receive times of the oldest are lost. The events themselves are in client-go's buffer, which is unbounded.",
		Impact:  "Event lag and sync lag are lower bounds; the real lag is larger. The buffer grows until the handler catches up or the process runs out of memory.",
		Commands: []Step{
			goroutines,
			describePod,
			restartPod,
		},
		Queries: []Step{
			{"Heap of the process: does it grow with the pending events?", `go_memstats_heap_alloc_bytes{@, ` + ofThisProcess + `}`},
			{"Pending events by handler: do they decrease?", `k8s_informer_handler_pending_events{@, ` + ofThisProcess + ofThisInformer + `}`},
			{"Handled events per second. 0: the handler is stuck. The exporter has one handler.", `sum by (handler) (rate(k8s_informer_handler_duration_seconds@count{@, ` + ofThisProcess + ofThisInformer + `}[5m])) or sum(rate(k8s_informer_event_lag_seconds@count{@, ` + ofThisProcess + ofThisInformer + `, name=~"informer-exporter.*"}[5m]))`},
		},
		Causes: []string{
			"Stuck handler: save a goroutine dump, then restart the process.",
			"Slow handler: see InformerHandlerSlow.",
			"A burst after a start is temporary.",
		},
		Resolves: "$window after the last lost receive time. Pending events, in the second query, are then near 0.",
		Escalate: controllerTeam,
	},
}

var informerHandlersGrow = Alert{
	Name:      "InformerHandlersGrow",
	Objective: catalog.Objectives.HandlerGrowth,
	Reason:    "a slow leak that is visible long before the process runs out of memory",
	labels:    ofProcess,
	keep:      10 * time.Minute,
	// A program adds its handlers at the start. The second line requires growth that has not ended.
	expr: `
k8s_informer_handlers{@} - min_over_time(k8s_informer_handlers{@}[1h]) > $threshold
and
k8s_informer_handlers{@} > min_over_time(k8s_informer_handlers{@}[$window])
`,
	summary: "The number of handlers of informer {{ $labels.informer_type }} of " + program + inCluster + " grows.",
	description: someInformer + inProcess + ` has {{ $value | printf "%.0f" }} more handlers than its minimum in the last hour, and the number still grows. ` +
		"Code adds handlers and does not remove them.",
	Runbook: Runbook{
		Meaning: "More than $threshold handlers were added to this informer within an hour, and some within the last $window. A program normally adds its handlers once, at the start.",
		Impact:  "Each handler has two goroutines and a buffer, and gets every event: memory and CPU grow until the process is OOM-killed.",
		Commands: []Step{
			listPods,
			podUsage,
			restartPod.because("Restart the process, which frees the memory until the leak has grown again."),
		},
		Queries: []Step{
			{"Handlers by informer.", `k8s_informer_handlers{@, ` + ofThisProcess + `}`},
			{"Names of the handlers, which contain the function that adds them.", `count by (informer_type, handler) (k8s_informer_handler_pending_events{@, ` + ofThisProcess + `})`},
		},
		Causes: []string{
			"`AddEventHandler` in a reconciler, or in a function that runs for each object: add handlers once, where the controller is created.",
			"A registration that is not removed: call `RemoveEventHandler` when its user ends, for example for each custom resource.",
		},
		Resolves: "after $window without a new handler, plus 10 minutes, or after a restart: the first query no longer rises.",
		Escalate: controllerTeam,
	},
}
