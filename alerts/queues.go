package alerts

import (
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// The alerts in this file read client-go's own workqueue_* metrics, so they work for every program that reports them. Some
// programs have further labels besides name; the sums by name remove them.

// busyKeep keeps an alert firing while a worker processes one long item after another.
const busyKeep = 10 * time.Minute

var queueVariables = []string{"cluster", "job", "instance", "controller=name"}

var controllerQueueBlocked = Alert{
	Name:      "ControllerQueueBlocked",
	Objective: catalog.Objectives.QueueBlocked,
	Reason:    "one controller; raise the severity for a controller that the cluster depends on",
	board:     controllerBoard,
	labels:    queueVariables,
	keep:      busyKeep, // as long as the alerts that it inhibits
	// An item added while a worker processes it counts toward the depth, although no other worker may take it: each busy
	// worker accounts for at most one such item. The slope of the unfinished work is the number of busy workers. It is 0 for
	// standby replicas that fill their queues, and after a shutdown, when the metrics no longer change.
	expr: `
sum by (@cluster, @namespace, @pod, @job, @instance, name) (min_over_time(workqueue_depth{@}[$window]))
>
round(max by (@cluster, @namespace, @pod, @job, @instance, name) (deriv(workqueue_unfinished_work_seconds{@}[$window])))
and
sum by (@cluster, @namespace, @pod, @job, @instance, name) (increase(workqueue_queue_duration_seconds@count{@}[$window])) == 0
and
max by (@cluster, @namespace, @pod, @job, @instance, name) (deriv(workqueue_unfinished_work_seconds{@}[$window])) > 0.5
`,
	summary: "The workers of " + thisQueue + " take no items.",
	description: "At least {{ $value }} items are in " + thisQueue + inProcess + ", and no worker has taken one for more than $window. " +
		"All workers are busy: stuck or slow.",
	Runbook: Runbook{
		Unless:  "the controller is critical: it makes no progress at all",
		Meaning: "For $window, this queue had more items than busy workers, no worker took an item, and at least one worker has unfinished work: all workers are stuck or slow.",
		Impact:  "The controller makes no progress. Changes are queued and not processed.",
		Commands: []Step{
			goroutines,
			podLog("timeout|deadline|error"),
			restartPod,
		},
		Queries: []Step{
			{"How long the workers have been busy.", `max by (name) (workqueue_longest_running_processor_seconds{@, ` + ofThisQueue + `})`},
			{"Queue depth.", `sum by (name) (workqueue_depth{@, ` + ofThisQueue + `})`},
			{"Failed requests to the API server.", `sum by (resource, code) (` + prom.Occurred(`k8s_client_requests_total{@, `+ofThisProcess+`, code=~"5..|429|error"}`, "15m") + `) > 0`},
		},
		Causes: []string{
			"An external call without a deadline is the usual cause: give each reconcile a context with a timeout (`ReconciliationTimeout` in controller-runtime).",
			"In a deadlock, many goroutines wait for the same lock. A channel without a reader shows as `chan send`.",
			"If individual items may take that long, add workers.",
		},
		Resolves: "10 minutes after a worker takes an item: the first query falls, and the queue depth decreases.",
		Escalate: controllerTeam,
	},
}

var controllerQueueSlow = Alert{
	Name:      "ControllerQueueSlow",
	Objective: catalog.Objectives.QueueWait,
	Reason:    "few controllers need a queue latency below 1 s; raise the severity for one that does",
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "controller=name"},
	keep:      10 * time.Minute,
	// The threshold is exactly a bucket's bound, so that nothing is interpolated: the rule fires when more than 1% of the items
	// exceed it. The latency of an item added while a worker processes it counts from that add, and is at most the rest of the
	// work: such items add less to the total queue latency than to the total work duration.
	expr: `
histogram_quantile($quantile, sum by (@le, @cluster, @namespace, @job, name) (rate(workqueue_queue_duration_seconds@bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @namespace, @job, name) (increase(workqueue_queue_duration_seconds@count{@}[$window])) >= $count
and
sum by (@cluster, @namespace, @job, name) (rate(workqueue_queue_duration_seconds@sum{@}[$window]))
>
sum by (@cluster, @namespace, @job, name) (rate(workqueue_work_duration_seconds@sum{@}[$window]))
`,
	summary: "The latency of " + thisQueue + " is high.",
	description: "The latency of " + thisQueue + " is {{ $value | humanizeDuration }} (99th percentile, estimated from the buckets of a histogram); " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "More than one item in a hundred had a queue latency above $objective for $for, in windows of $window with at least $count items. Backoff and delays are not included, nor are queues in which items only wait because they are still being processed.",
		Impact:  "The controller reacts late to changes; the delay grows with the queue depth.",
		Commands: []Step{
			listPods,
			replicaLog("error|throttl|timeout"),
			podUsage,
		},
		Queries: []Step{
			{"Queue depth.", `sum by (@pod) (workqueue_depth{@, ` + ofThisProgram + `})`},
			{"Work duration: do items take long?", `histogram_quantile(0.99, sum by (@le, @pod) (rate(workqueue_work_duration_seconds@bucket{@, ` + ofThisProgram + `}[5m])))`},
			{"Retries per second, including periodic requeues: do items fail?", `sum by (@pod) (rate(workqueue_retries_total{@, ` + ofThisProgram + `}[5m]))`},
		},
		Causes: []string{
			"All workers are busy: add workers (`MaxConcurrentReconciles` in controller-runtime).",
			"Slow items: read from the cache instead of the API server, and check the client-side rate limit (ControllerClientThrottled).",
			"Retries that never succeed: see ControllerReconcileErrors.",
			"A process short of CPU: raise its limit.",
			"After a start or a leader transition, all objects are queued once. This is temporary.",
		},
		Resolves: "10 minutes after the latency has fallen to $objective, or there are fewer than $count items.",
		Escalate: controllerTeam,
	},
}

var controllerQueueDeep = Alert{
	Name:      "ControllerQueueDeep",
	Objective: catalog.Objectives.QueueDepth,
	Reason:    "a burst is processed eventually; only a growing backlog is a problem",
	board:     controllerBoard,
	labels:    queueVariables,
	// The rule reads the minimum depth over the window, because bursts are normal. For a new queue the window has only a few
	// samples, so the rule also needs a for. controller-runtime has a series per priority; the sum of their minima never exceeds
	// the minimum of their sum. A standby replica that fills its queue (EnableWarmup of controller-runtime) takes
	// nothing from it, which is normal.
	expr: `
sum by (@cluster, @namespace, @pod, @job, @instance, name) (min_over_time(workqueue_depth{@}[$window])) > $threshold
and
sum by (@cluster, @namespace, @pod, @job, @instance, name) (increase(workqueue_queue_duration_seconds@count{@}[$window])) > 0
`,
	summary: "The depth of " + thisQueue + " stays high.",
	description: "The depth of " + thisQueue + inProcess + " has been {{ $value }} or more for $window; " +
		"the objective is at most $objective. The workers do not keep up.",
	Runbook: Runbook{
		Meaning: "The queue depth of this process never fell to $objective or below within $window, and this continued for another $for. Queues from which no item is taken do not count.",
		Impact:  "New changes are processed after all queued items. The queue is unbounded and uses memory.",
		Commands: []Step{
			podLog("error|throttl|timeout"),
			describePod,
			lastChanges.because("Set `RESOURCE` to the resource that this controller reconciles, and find its writers."),
		},
		Queries: []Step{
			{"Growth: adds minus items taken, per second.", `sum(rate(workqueue_adds_total{@, ` + ofThisQueue + `}[5m])) - sum(rate(workqueue_queue_duration_seconds@count{@, ` + ofThisQueue + `}[5m]))`},
			{"Work duration.", `histogram_quantile(0.99, sum by (@le) (rate(workqueue_work_duration_seconds@bucket{@, ` + ofThisQueue + `}[5m])))`},
			{"Events that fill the queue.", `sum by (informer_type) (rate(k8s_informer_watch_events_total{@, ` + ofThisProcess + `}[5m]))`},
		},
		Causes: []string{
			"Too few workers: add workers.",
			"Too many events: filter in the event handlers, by generation or by the fields that the controller uses, and lengthen the resync period.",
			"Retries that never succeed: see ControllerReconcileErrors.",
		},
		Resolves: "when the depth has fallen to $objective at least once in the last $window.",
		Escalate: controllerTeam,
	},
}

var controllerWorkerBusy = Alert{
	Name:      "ControllerWorkerBusy",
	Objective: catalog.Objectives.WorkerBusy,
	Reason:    "one item is stuck; if all workers are, ControllerQueueBlocked fires",
	board:     controllerBoard,
	labels:    queueVariables,
	keep:      busyKeep,
	expr:      `max by (@cluster, @namespace, @pod, @job, @instance, name) (workqueue_longest_running_processor_seconds{@}) > $threshold`,
	summary:   "A worker of " + thisQueue + " has been busy with one item for {{ $value | humanizeDuration }}.",
	description: "A worker of " + thisQueue + inProcess + " has been busy with one item for {{ $value | humanizeDuration }}; " +
		"the objective is at most $objective. It is probably stuck.",
	Runbook: Runbook{
		Meaning: "A worker took an item more than $objective ago and has not finished it. It is probably stuck.",
		Impact:  "The object is not reconciled: a queue never gives one item to two workers. One fewer worker is available. If all workers are stuck, ControllerQueueBlocked fires.",
		Commands: []Step{
			goroutines,
			podLog("timeout|deadline|error"),
			restartPod,
		},
		Queries: []Step{
			{"Number of stuck workers.", `sum(deriv(workqueue_unfinished_work_seconds{@, ` + ofThisQueue + `}[10m]))`},
			{"Items done per second: does other work continue?", `sum(rate(workqueue_work_duration_seconds@count{@, ` + ofThisQueue + `}[5m]))`},
		},
		Causes: []string{
			"An external call without a deadline is the usual cause: give each reconcile a context with a timeout (`ReconciliationTimeout` in controller-runtime).",
			"A reconcile that waits for a condition should return and requeue (`RequeueAfter`) instead of sleeping.",
			"If items may take that long, raise the objective `worker_busy`.",
		},
		Resolves: "10 minutes after the item is done: `workqueue_longest_running_processor_seconds` falls to 0.",
		Escalate: controllerTeam,
	},
}

var controllerItemFailing = Alert{
	Name:      "ControllerItemFailing",
	Objective: catalog.Objectives.ItemRetries,
	Reason:    "one object is affected; others are reconciled",
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "instance", "controller"},
	expr:      `controller_item_retries_max{@} > $threshold`,
	summary:   "An item of controller " + controllerIn + " does not succeed.",
	description: "An item of controller " + controllerIn + inProcess + ` has been retried {{ $value | printf "%.0f" }} times without success; ` +
		"the objective is at most $objective retries. The log names the item.",
	Runbook: Runbook{
		Meaning: "For $for, an item of this controller has been retried more than $objective times without success. Its reconcile error rate may be low, because backoff makes retries rare.",
		Impact:  "The object is not in its desired state. Its retries become rare: client-go's default backoff grows to 1000 s, so a fix takes effect late.",
		Commands: []Step{
			podLog("retr").because("Find the item: the library logs it when it exceeds the objective."),
			podLog("error").because("Find the error of its reconciles."),
			restartPod.because("After the cause is fixed: restart the process, which resets the backoff."),
		},
		Queries: []Step{
			{"Highest number of retries by controller. Many controllers: the API server, or a webhook.", `max by (@namespace, @pod, name, controller) (controller_item_retries_max{@, ` + inThisCluster + `}) > 0`},
			{"Errors and panics.", `sum by (result) (` + prom.Occurred(`controller_reconcile_total{@, `+ofThisProcess+`, controller="$CONTROLLER", result=~"error|terminal|panic"}`, "1h") + `) > 0`},
		},
		Causes: []string{
			"An object that can never be reconciled, such as one with an invalid spec: return a terminal error and report it in the status.",
			"A missing dependency: watch it and return without an error until it exists.",
			"A controller that asks for a requeue with backoff as a timer (`Requeue: true`): use `RequeueAfter`, which is not a retry.",
		},
		Resolves: "when the item succeeds, is deleted or is dropped: the first query falls to $objective or below. After a terminal error in controller-runtime, up to 30 minutes after the item's last backoff.",
		Escalate: controllerTeam,
	},
}

var controllerWorkersMissing = Alert{
	Name:      "ControllerWorkersMissing",
	Objective: catalog.Objectives.WorkersMissing,
	Reason:    "one controller makes no progress; raise the severity for one that the cluster depends on",
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "instance", "controller"},
	// Without a backlog there is nothing to do. A standby has no workers and fills its queue, if at all, until it leads.
	expr: `
max by (@cluster, @namespace, @pod, @job, @instance, name, controller) (controller_running_workers{@}) < $threshold
and on (@cluster, @job, @instance, controller)
label_join(max by (@cluster, @job, @instance, name) (workqueue_depth{@process}) > 0, "controller", "", "name")
unless on (@cluster, @job, @instance)
max by (@cluster, @job, @instance) (controller_leader{@process}) == 0
`,
	summary: "Controller " + controllerIn + " has no running worker.",
	description: "Controller " + controllerIn + inProcess + " has had items in its queue and no running worker for more than $for. " +
		"Its workers have exited.",
	Runbook: Runbook{
		Unless:  "the cluster depends on this controller",
		Meaning: "For $for, this queue has had items, and no worker waits for an item or processes one, although the process is the leader or has no leader election: all workers have exited, or none was started.",
		Impact:  "The controller makes no progress. Changes are queued and not processed, and the queue grows.",
		Commands: []Step{
			podLog("panic|worker|shut").because("Find out why the workers ended: a panic that was recovered outside of the loop, or a context that was canceled."),
			goroutines,
			restartPod,
		},
		Queries: []Step{
			{"Running workers over the last hour.", `max_over_time(controller_running_workers{@, ` + ofThisProcess + `, controller="$CONTROLLER"}[1h])`},
			{"Queue depth.", `max by (name) (workqueue_depth{@, ` + ofThisProcess + `, name="$CONTROLLER"})`},
		},
		Causes: []string{
			"A higher maximum does not help when no worker runs. Restart the process, then find what ended its workers.",
			"A worker loop that returns on an error, or recovers a panic outside of the loop: handle both for each item.",
			"Workers that wait for a cache which never syncs: see InformerNotSynced.",
		},
		Resolves: "when a worker takes an item: `controller_running_workers` is at least 1.",
		Escalate: controllerTeam,
	},
}

var controllerItemsDropped = Alert{
	Name:      "ControllerItemsDropped",
	Objective: catalog.Objectives.ItemsDropped,
	Reason:    "affects individual objects, until their next event or resync",
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "instance", "controller"},
	// Excludes terminal errors: most are mistakes in objects, which controllers report in their status.
	expr:    `(` + occurred(`controller_dropped_total{@, reason="max_retries"}`) + `) > $threshold`,
	summary: "Controller " + controllerIn + " drops items.",
	description: "Controller " + controllerIn + inProcess + ` dropped {{ $value | printf "%.0f" }} items in $window after their last retry. ` +
		"Their objects are not reconciled until they change again.",
	Runbook: Runbook{
		Meaning: "An item failed more often than the controller allows and was dropped. It is queued again by the next event for its object, a resync, or a restart.",
		Impact:  "Objects are not in their desired state, and no worker reconciles them.",
		Commands: []Step{
			podLog("error|dropp|retries"),
			{"Find objects that have not been reconciled since their last change. Set `RESOURCE` to the resource that this controller reconciles. It must have an observedGeneration.", `kubectl get "$RESOURCE" -A -o ` + unobserved},
			restartPod.because("After the cause is fixed: restart the process, which reconciles everything."),
		},
		Queries: []Step{
			{"Dropped items by reason.", `sum by (reason) (` + prom.Occurred(`controller_dropped_total{@, `+ofThisProcess+`, controller="$CONTROLLER"}`, "1h") + `) > 0`},
			{"Mean retries until an item is finished or dropped.", `sum(rate(controller_item_retries@sum{@, ` + ofThisProcess + `, controller="$CONTROLLER"}[1h])) / sum(rate(controller_item_retries@count{@, ` + ofThisProcess + `, controller="$CONTROLLER"}[1h]))`},
		},
		Causes: []string{
			"A retry limit is seldom right: with client-go's backoff from 5 ms, ten retries take five seconds. Remove the limit, or lower the maximum backoff, for example to 30 s.",
			"Return terminal errors as such (`reconcile.TerminalError` in controller-runtime) and report them in the status of the object.",
		},
		Resolves: "$window after the last dropped item. The dropped objects are still not reconciled.",
		Escalate: controllerTeam,
	},
}
