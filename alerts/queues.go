package alerts

import (
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// The alerts in this file read client-go's own workqueue_* metrics, so that they work for every program that reports
// them. Some programs add labels to name: sums by the queue's name leave no trace of them.

// busyKeep is for workers that have one long item after the other.
const busyKeep = 10 * time.Minute

var queueVariables = []string{"cluster", "job", "instance", "controller=name"}

var controllerQueueBlocked = Alert{
	Name:      "ControllerQueueBlocked",
	Objective: catalog.QueueBlocked,
	board:     controllerBoard,
	labels:    queueVariables,
	keep:      busyKeep, // as long as what it keeps back
	// An item that is added while a worker has it counts as one that waits, although no other worker may take it: each busy
	// worker accounts for one such item. The slope of the unfinished work is the number of busy workers. It is 0 for replicas
	// that fill their queues while they do not lead, and after a shutdown, when the metrics stay as they were.
	expr: `
sum by (@cluster, @job, @instance, name) (min_over_time(workqueue_depth{@}[$window]))
>
round(max by (@cluster, @job, @instance, name) (deriv(workqueue_unfinished_work_seconds{@}[$window])))
and
sum by (@cluster, @job, @instance, name) (increase(workqueue_queue_duration_seconds_count{@}[$window])) == 0
and
max by (@cluster, @job, @instance, name) (deriv(workqueue_unfinished_work_seconds{@}[$window])) > 0.5
`,
	summary: "The workers of " + thisQueue + " have stopped taking items.",
	description: "At least {{ $value }} items wait in " + thisQueue + " on {{ $labels.@instance }}, and none has been taken for more than $window, " +
		"although workers are busy. Every one of them seems to hang, or their work takes that long.",
	Runbook: Runbook{
		Meaning: "For $window there were always more items in the queue than workers at work, and no worker took one, while at least one has not finished what it took before; and that for another $for. The wait in the queue cannot show this, because it is measured when an item is taken. An item that is added while it is worked on counts as one that waits, so that as many items as busy workers prove nothing: a queue that is blocked with no more than that is left to ControllerWorkerBusy.",
		Impact:  "The controller does nothing any more. Changes are noticed, put into the queue and stay there.",
		Diagnosis: []Step{
			{"How long have the workers been busy, and how many of them? The slope of the unfinished work is the number of workers that hang.", `max by (@cluster, @job, @instance, name) (workqueue_longest_running_processor_seconds{@}) > 60`},
			{"How many items wait?", `sum by (@cluster, @job, @instance, name) (workqueue_depth{@}) > 0`},
			{"Do requests to the API server get answers? One without a timeout waits for ever.", `sum by (@cluster, name, resource, code) (increase(k8s_client_requests_total{@, code=~"5..|429|error"}[15m])) > 0`},
			{"What do the workers wait for? A goroutine dump shows it: `/debug/pprof/goroutine?debug=2`, or send SIGQUIT, which ends the process.", ""},
		},
		Mitigation: []string{
			"Take the goroutine dump first, then restart the process: the next one lists everything and starts afresh.",
			"Calls to the outside without a deadline are the usual cause: give each reconcile a context with a timeout (`ReconciliationTimeout` in controller-runtime).",
			"A deadlock shows as many goroutines at the same lock. A write to a channel that nobody reads shows as `chan send`.",
			"If single items may take that long, use more workers, so that others do not wait behind them.",
		},
	},
}

var controllerQueueSlow = Alert{
	Name:      "ControllerQueueSlow",
	Objective: catalog.QueueWait,
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "controller=name"},
	keep:      10 * time.Minute,
	// Exactly a bucket's bound, so that nothing is interpolated: it fires when more than one item in a hundred waits longer.
	// The wait of an item that is added while a worker has it begins with that, and lasts no longer than the rest of the
	// work: such items add less to the time that is waited than to the time that is worked.
	expr: `
histogram_quantile($quantile, sum by (le, @cluster, @job, name) (rate(workqueue_queue_duration_seconds_bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @job, name) (increase(workqueue_queue_duration_seconds_count{@}[$window])) >= $count
and
sum by (@cluster, @job, name) (rate(workqueue_queue_duration_seconds_sum{@}[$window]))
>
sum by (@cluster, @job, name) (rate(workqueue_work_duration_seconds_sum{@}[$window]))
`,
	summary: "Items wait too long in " + thisQueue + ".",
	description: "Items wait {{ $value | humanizeDuration }} in " + thisQueue + " before a worker takes them (99th percentile, estimated between buckets that are tenfold apart); " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "More than one item in a hundred has waited longer than $objective from the moment that it was added until a worker took it, for $for, in windows of $window with at least $count items, and all items together have waited longer than they were worked on. Back-off and delays are not part of it. The last condition is there because an item that is added while it is worked on waits for the end of that work, however many workers are idle: a controller whose reconciles take seconds and write to their own objects has such waits all the time. The objective has to be a bucket of `workqueue_queue_duration_seconds`, which are tenfold apart, and below the last of them: a quantile never exceeds that one, 10 s.",
		Impact:  "The controller reacts late to changes, and later the deeper the queue gets.",
		Diagnosis: []Step{
			{"Which queues, and how deep are they?", `sum by (@cluster, @job, @instance, name) (workqueue_depth{@}) > 0`},
			{"Does each item take long, or are there too many?", `histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_work_duration_seconds_bucket{@}[5m])))`},
			{"How many are added, and how many of those are retries?", `sum by (@cluster, @job, name) (rate(workqueue_retries_total{@}[5m])) / sum by (@cluster, @job, name) (rate(workqueue_adds_total{@}[5m]))`},
			{"Are all workers busy, where the controller says how many it has?", `sum by (@cluster, name, controller, @instance) (controller_active_workers{@}) / sum by (@cluster, name, controller, @instance) (controller_max_workers{@})`},
			{"Do workers wait for the client's own rate limiter? (There is no result where the program sets no `RateLimiter`.)", `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_client_throttle_wait_seconds_bucket{@}[5m])))`},
		},
		Mitigation: []string{
			"All workers busy: use more of them (`MaxConcurrentReconciles` in controller-runtime), if the API server and whatever else they call can bear it.",
			"Slow items: see the duration of reconciles and of requests; read from the cache instead of the API server.",
			"Retries that never succeed fill the queue: follow ControllerReconcileErrors.",
			"A process short of CPU: look at its throttling and raise its limit.",
			"After a start or a change of the leader everything is queued once; that passes by itself. If it takes longer than $for every time, raise `for` of the objective `queue_wait_p99`.",
		},
	},
}

var controllerQueueDeep = Alert{
	Name:      "ControllerQueueDeep",
	Objective: catalog.QueueDepth,
	board:     controllerBoard,
	labels:    queueVariables,
	// The least depth of the window and not the present one: bursts are what queues are for. For a queue that is new the
	// window holds only a few values, which is what the time before it fires is for. controller-runtime has a series for each
	// priority, and the sum of their minima is never more than the minimum of the sum. A replica that fills its queue before
	// it leads (EnableWarmup of controller-runtime) takes nothing from it, and is fine.
	expr: `
sum by (@cluster, @job, @instance, name) (min_over_time(workqueue_depth{@}[$window])) > $threshold
and
sum by (@cluster, @job, @instance, name) (increase(workqueue_queue_duration_seconds_count{@}[$window])) > 0
`,
	summary: "The " + thisQueue + " is deep and does not empty.",
	description: "There have been {{ $value }} items or more in " + thisQueue + " on {{ $labels.@instance }} for $window; " +
		"the objective is at most $objective. The workers do not keep up.",
	Runbook: Runbook{
		Meaning: "The queue of one process never had $objective items or fewer within $window, and that for another $for. A burst, such as a start or a mass change, does not get here unless it takes that long to be worked off. Queues that nothing is taken from do not count: replicas fill them before they lead, and workers that hang are ControllerQueueBlocked.",
		Impact:  "What changes now is handled after everything that waits already. A queue takes memory without a bound.",
		Diagnosis: []Step{
			{"Does it still grow? Items come in at one rate and are taken at another.", `sum by (@cluster, @job, name) (rate(workqueue_adds_total{@}[5m])) - sum by (@cluster, @job, name) (rate(workqueue_queue_duration_seconds_count{@}[5m]))`},
			{"How long does an item take?", `histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_work_duration_seconds_bucket{@}[5m])))`},
			{"Which events fill it?", `sum by (@cluster, name, informer_type) (rate(k8s_informer_watch_events_total{@}[5m]))`},
		},
		Mitigation: []string{
			"Too few workers: use more of them.",
			"More events than needed: filter in the event handlers, by generation or by what the controller looks at, and lengthen the resync period (ConfigMaps need 5 to 10 s at the least, Deployments 30 s to 2 min, Nodes 10 to 30 min).",
			"Retries that never succeed: follow ControllerReconcileErrors.",
		},
	},
}

var controllerWorkerBusy = Alert{
	Name:      "ControllerWorkerBusy",
	Objective: catalog.WorkerBusy,
	board:     controllerBoard,
	labels:    queueVariables,
	keep:      busyKeep,
	expr:      `max by (@cluster, @job, @instance, name) (workqueue_longest_running_processor_seconds{@}) > $threshold`,
	summary:   "A worker of " + thisQueue + " has been busy with one item for long.",
	description: "A worker of " + thisQueue + " on {{ $labels.@instance }} has been busy with one item for {{ $value | humanizeDuration }}; " +
		"the objective is at most $objective. It probably hangs.",
	Runbook: Runbook{
		Meaning: "One worker took an item more than $objective ago and has not finished it. client-go looks at its workers twice a second; no other metric shows a call that does not return.",
		Impact:  "The object that it works on is not reconciled: a queue never gives one item to two workers. One worker less does the rest; if all of them hang, ControllerQueueBlocked follows.",
		Diagnosis: []Step{
			{"How many workers hang? The slope of the unfinished work tells: one second a second for each of them.", `sum by (@cluster, @job, @instance, name) (deriv(workqueue_unfinished_work_seconds{@}[10m]))`},
			{"Does work go on beside it?", `sum by (@cluster, @job, @instance, name) (rate(workqueue_work_duration_seconds_count{@}[5m]))`},
			{"What does it wait for? A goroutine dump shows it: `/debug/pprof/goroutine?debug=2`.", ""},
		},
		Mitigation: []string{
			"Calls to the outside without a deadline are the usual cause: give each reconcile a context with a timeout (`ReconciliationTimeout` in controller-runtime).",
			"A reconcile that waits for something should return and ask to be called again (`RequeueAfter`), not sleep.",
			"Take a goroutine dump, then restart the process.",
			"If items may take that long, raise the objective `worker_busy`.",
		},
	},
}

var controllerItemsDropped = Alert{
	Name:      "ControllerItemsDropped",
	Objective: catalog.ItemsDropped,
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "instance", "controller"},
	// Errors that no retry can mend are left out: most are mistakes in objects, and a status is the place to report them.
	expr:    `increase(controller_dropped_total{@, reason="max_retries"}[$window]) > $threshold`,
	summary: "The controller " + controllerOf + " has given items up.",
	description: "The controller " + controllerOf + ` on {{ $labels.@instance }} has given up {{ $value | printf "%.0f" }} items in $window after their last retry. ` +
		"Their objects stay as they are until they change again.",
	Runbook: Runbook{
		Meaning: "An item failed once more than the controller allows, and was forgotten. It comes back with the next event about its object, with a resync, or with the next start.",
		Impact:  "Objects whose actual state is not the desired one, with nobody at work on them.",
		Diagnosis: []Step{
			{"Which controllers?", `sum by (@cluster, name, controller, reason) (increase(controller_dropped_total{@}[1h])) > 0`},
			{"How many retries do items get before that?", `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_item_retries_bucket{@}[1h])))`},
			{"What fails? The log of the process names the items and their errors.", ""},
		},
		Mitigation: []string{
			"Mend the cause, then make the items come back: change the objects, with an annotation for example, or restart the process.",
			"A limit of retries is seldom right: with client-go's back-off from 5 ms, doubled up to 1000 s, ten retries are over after five seconds. Leave the limit out, or lower the longest back-off (to 30 s for example) so that items come back soon after the cause is gone.",
			"Errors that no retry can mend should say so (`reconcile.TerminalError` in controller-runtime) and be reported in the object's status.",
		},
	},
}
