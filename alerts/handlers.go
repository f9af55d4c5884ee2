package alerts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
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
	summary: "Handler {{ $labels.handler }} of " + program + " is slow.",
	description: "Handler {{ $labels.handler }} of the {{ $labels.informer_type }} informer in " + program +
		" takes {{ $value | humanizeDuration }} per event (99th percentile); the objective is at most $objective.",
	expand: handlerAlerts,
	Runbook: Runbook{
		Meaning: "The 99th percentile of the handler duration has exceeded its objective for $for, over windows of $window with at least $count events.",
		Impact:  "An informer delivers events to a handler one by one: a slow handler delays its later events, but not the events of other handlers. Pending events use memory.",
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
	expr:      `(` + occurred(`k8s_informer_handler_panics_total{@}`) + `) > $threshold`,
	summary:   "Handler {{ $labels.handler }} of " + program + " panics.",
	description: "Handler {{ $labels.handler }} of the {{ $labels.informer_type }} informer in " + program +
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
			{"Panics by handler, over all processes.", `sum by (@namespace, @pod, name, informer_type, handler) (` + prom.Occurred(`k8s_informer_handler_panics_total{@, `+inThisCluster+`}`, "1h") + `) > 0`},
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
	Reason:    "a bug in the program; the fix needs a new release",
	labels:    ofProcess,
	// Transforms have an alert of their own. Handlers that are removed lose what they have not handled yet, by design.
	expr:    `(` + occurred(`k8s_informer_events_lost_total{@, reason=~"list|index"}`) + `) > $threshold`,
	summary: someInformer + " lost events.",
	description: `{{ $value | printf "%.0f" }} events of the {{ $labels.informer_type }} informer in ` + program + inProcess +
		" never reached a handler in $window (reason: {{ $labels.reason }}).",
	Runbook: Runbook{
		Meaning: "Events within the last $window never reached a handler. `list`: a transform returned nil for an object of a list, and client-go then stored none of its objects. `index`: an index function failed for the object. Drops of a transform for single events raise InformerTransformDrops.",
		Impact:  "Handlers do not know of these objects, or of their last change, until the next list or event. With `list`, the cache may be empty.",
		Commands: []Step{
			podLog("unable to|index|transform"),
			countObjects.because("Count the objects, to compare with `k8s_informer_objects`: the difference is missing from the cache."),
			rollouts,
		},
		Queries: []Step{
			{"Lost events by reason, over all processes.", `sum by (@namespace, @pod, name, informer_type, reason) (` + prom.Occurred(`k8s_informer_events_lost_total{@, `+inThisCluster+`}`, "1h") + `) > 0`},
			{"Objects in the cache.", `k8s_informer_objects{@, ` + ofThisProcess + ofThisInformer + `}`},
		},
		Causes: []string{
			"A transform that returns nil: it must return an object for every input.",
			"An index function that returns an error or panics for some objects: return no keys instead.",
		},
		Resolves: "$window after the last lost event. The objects come back with their next event or list.",
		Escalate: controllerTeam,
	},
}

var informerResyncPeriodsDiffer = Alert{
	Name:      "InformerResyncPeriodsDiffer",
	Objective: catalog.Objectives.ResyncPeriods,
	Reason:    "often intended; explains a controller that does not repair what it missed",
	labels:    ofInformer,
	expr:      `max by (@cluster, @namespace, @job, name, informer_type, watch_namespace) (k8s_informer_resync_periods{@}) > $threshold`,
	summary:   "Handlers of " + informerIn + " have different resync periods.",
	description: "The handlers of the {{ $labels.informer_type }} informer in " + program + " have {{ $value }} different resync periods. " +
		"The shortest one sets the pace of the informer, and a handler without resyncs gets none.",
	Runbook: Runbook{
		Meaning: "Handlers of one informer were registered with different resync periods, or some without one. client-go checks all of them at the shortest period.",
		Impact:  "Handlers see the same object at different times. One without resyncs never gets an object again that it failed to handle.",
		Commands: []Step{
			listPods,
			replicaLog("resync"),
			rollouts,
		},
		Queries: []Step{
			{"Resync period of each handler in seconds, 0 without resyncs.", `max by (handler) (k8s_informer_handler_resync_period_seconds{@, ` + ofThisProgram + ofThisInformer + `})`},
			{"Updates per second that only resyncs cause.", `sum(rate(k8s_informer_unchanged_updates_total{@, ` + ofThisProgram + ofThisInformer + `, cause="resync"}[15m]))`},
		},
		Causes: []string{
			"A library that adds handlers with its own period: pass the period of the factory, or use `AddEventHandler`.",
			"Intended differences need no action. A resync delivers cached objects again; it does not read the API server.",
		},
		Resolves: "when all handlers of the informer have one period. To leave it out, see `disabled` in the generator's configuration.",
		Escalate: controllerTeam,
	},
}

var informerHandlersGrow = Alert{
	Name:      "InformerHandlersGrow",
	Objective: catalog.Objectives.HandlerGrowth,
	Reason:    "a slow leak that is visible long before the process runs out of memory",
	labels:    ofProcess,
	keep:      10 * time.Minute,
	// A program adds its handlers at the start: the number of $window ago counts, if there is one, and the growth must not have ended.
	expr: `
k8s_informer_handlers{@} - min_over_time(k8s_informer_handlers{@}[45m] offset $window) > $threshold
and
k8s_informer_handlers{@} > min_over_time(k8s_informer_handlers{@}[$window])
`,
	summary: someInformer + " keeps gaining handlers.",
	description: someInformer + inProcess + ` has {{ $value | printf "%.0f" }} more handlers than it had between $window and an hour ago, and the number still grows. ` +
		"Code adds handlers and does not remove them.",
	Runbook: Runbook{
		Meaning: "This informer has over $threshold more handlers than it had between $window and an hour ago, and the last was added within $window. A program normally adds its handlers once, at the start.",
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
