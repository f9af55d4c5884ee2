package alerts

import (
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// The alerts in this file read client-go's own workqueue_* metrics, so that they work for every program that reports
// them. Some programs have further labels besides name; the sums by name remove them.

// busyKeep keeps an alert firing while a worker processes one long item after another.
const busyKeep = 10 * time.Minute

var queueVariables = []string{"cluster", "job", "instance", "controller=name"}

var controllerQueueBlocked = Alert{
	Name:      "ControllerQueueBlocked",
	Objective: catalog.Objectives.QueueBlocked,
	board:     controllerBoard,
	labels:    queueVariables,
	keep:      busyKeep, // as long as the alerts that it inhibits
	// An item added while a worker processes it counts towards the depth, although no other worker may take it: each busy
	// worker accounts for at most one such item. The slope of the unfinished work is the number of busy workers. It is 0 for
	// standby replicas that fill their queues, and after a shutdown, when the metrics no longer change.
	expr: `
sum by (@cluster, @job, @instance, name) (min_over_time(workqueue_depth{@}[$window]))
>
round(max by (@cluster, @job, @instance, name) (deriv(workqueue_unfinished_work_seconds{@}[$window])))
and
sum by (@cluster, @job, @instance, name) (increase(workqueue_queue_duration_seconds_count{@}[$window])) == 0
and
max by (@cluster, @job, @instance, name) (deriv(workqueue_unfinished_work_seconds{@}[$window])) > 0.5
`,
	summary: "The workers of " + thisQueue + " take no items.",
	description: "At least {{ $value }} items are in " + thisQueue + " on {{ $labels.@instance }}, and no worker has taken one for more than $window. " +
		"All workers are busy: stuck or slow.",
	Runbook: Runbook{
		Meaning: "The queue always had more items than busy workers for $window, no worker took an item, and at least one worker has unfinished work. The alert fires if this continues for another $for. The queue latency cannot show this, because it is observed when an item is taken. An item added while it is being processed counts as queued, so a queue with no more items than busy workers may be healthy; ControllerWorkerBusy covers that case.",
		Impact:  "The controller makes no progress. Changes are queued and not processed.",
		Diagnosis: []Step{
			{"Check how long the workers have been busy, and how many. The slope of the unfinished work is the number of stuck workers.", `max by (@cluster, @job, @instance, name) (workqueue_longest_running_processor_seconds{@}) > 60`},
			{"Check the queue depth.", `sum by (@cluster, @job, @instance, name) (workqueue_depth{@}) > 0`},
			{"Check the requests to the API server. A request without a timeout waits forever.", `sum by (@cluster, name, resource, code) (increase(k8s_client_requests_total{@, code=~"5..|429|error"}[15m])) > 0`},
			{"Find the cause in a goroutine dump: `/debug/pprof/goroutine?debug=2`, or SIGQUIT, which ends the process.", ""},
		},
		Mitigation: []string{
			"Take the goroutine dump first, then restart the process, which lists everything again.",
			"The usual cause is an external call without a deadline: give each reconcile a context with a timeout (`ReconciliationTimeout` in controller-runtime).",
			"A deadlock shows as many goroutines at the same lock. A write to a channel without a reader shows as `chan send`.",
			"If single items may take that long, use more workers.",
		},
	},
}

var controllerQueueSlow = Alert{
	Name:      "ControllerQueueSlow",
	Objective: catalog.Objectives.QueueWait,
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "controller=name"},
	keep:      10 * time.Minute,
	// The threshold is exactly a bucket's bound, so that nothing is interpolated: the rule fires when more than 1% of the items
	// exceed it. The latency of an item added while a worker processes it counts from that add, and is at most the rest of the
	// work: such items add less to the total queue latency than to the total work duration.
	expr: `
histogram_quantile($quantile, sum by (le, @cluster, @job, name) (rate(workqueue_queue_duration_seconds_bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @job, name) (increase(workqueue_queue_duration_seconds_count{@}[$window])) >= $count
and
sum by (@cluster, @job, name) (rate(workqueue_queue_duration_seconds_sum{@}[$window]))
>
sum by (@cluster, @job, name) (rate(workqueue_work_duration_seconds_sum{@}[$window]))
`,
	summary: "The latency of " + thisQueue + " is high.",
	description: "The latency of " + thisQueue + " is {{ $value | humanizeDuration }} (99th percentile, estimated between buckets that are tenfold apart); " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "More than one item in a hundred had a queue latency above $objective for $for, in windows of $window with at least $count items, and the total queue latency exceeded the total work duration. Backoff and delays are not included. The last condition excludes items that are added while they are being processed: they wait for the end of that work even if workers are idle, which is normal for controllers with long reconciles that write to their own objects. The objective must be a bucket of `workqueue_queue_duration_seconds` below the last one, 10 s: a quantile never exceeds the last bucket.",
		Impact:  "The controller reacts late to changes, and later as the queue depth grows.",
		Diagnosis: []Step{
			{"Find the queues and their depth.", `sum by (@cluster, @job, @instance, name) (workqueue_depth{@}) > 0`},
			{"Check whether items take long to process, or there are too many.", `histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_work_duration_seconds_bucket{@}[5m])))`},
			{"Check the share of retries among the adds.", `sum by (@cluster, @job, name) (rate(workqueue_retries_total{@}[5m])) / sum by (@cluster, @job, name) (rate(workqueue_adds_total{@}[5m]))`},
			{"Check whether all workers are busy, if the controller reports their number.", `sum by (@cluster, name, controller, @instance) (controller_active_workers{@}) / sum by (@cluster, name, controller, @instance) (controller_max_workers{@})`},
			{"Check the client-side rate limiter. (No result if the program neither sets a `RateLimiter` nor registers `apiclient.NewMetrics`.)", `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_client_throttle_wait_seconds_bucket{@}[5m])))`},
		},
		Mitigation: []string{
			"All workers busy: use more workers (`MaxConcurrentReconciles` in controller-runtime), within the capacity of the API server and other services.",
			"Slow items: check the duration of reconciles and requests. Read from the cache instead of the API server.",
			"Retries that never succeed fill the queue: see ControllerReconcileErrors.",
			"A process short of CPU: check its throttling and raise its limit.",
			"After a start or a leader transition everything is queued once, which is temporary. If it regularly takes longer than $for, raise `for` of the objective `queue_wait_p99`.",
		},
	},
}

var controllerQueueDeep = Alert{
	Name:      "ControllerQueueDeep",
	Objective: catalog.Objectives.QueueDepth,
	board:     controllerBoard,
	labels:    queueVariables,
	// The rule reads the minimum depth over the window, because bursts are normal. For a new queue the window has only a few
	// samples, so the rule also needs a for. controller-runtime has a series per priority; the sum of their minima never exceeds
	// the minimum of their sum. A replica that fills its queue before it leads (EnableWarmup of controller-runtime) takes
	// nothing from it, which is normal.
	expr: `
sum by (@cluster, @job, @instance, name) (min_over_time(workqueue_depth{@}[$window])) > $threshold
and
sum by (@cluster, @job, @instance, name) (increase(workqueue_queue_duration_seconds_count{@}[$window])) > 0
`,
	summary: "The depth of " + thisQueue + " stays high.",
	description: "The depth of " + thisQueue + " on {{ $labels.@instance }} has been {{ $value }} or more for $window; " +
		"the objective is at most $objective. The workers do not keep up.",
	Runbook: Runbook{
		Meaning: "The queue depth of one process never fell to $objective or below within $window, and this continued for another $for. A burst, such as a start or a mass change, fires only if it takes that long to process. Queues from which no item is taken do not count: standby replicas fill their queues, and ControllerQueueBlocked covers stuck workers.",
		Impact:  "New changes are processed after all queued items. The queue is unbounded and uses memory.",
		Diagnosis: []Step{
			{"Check whether the queue grows: compare the rates of adds and of items taken.", `sum by (@cluster, @job, name) (rate(workqueue_adds_total{@}[5m])) - sum by (@cluster, @job, name) (rate(workqueue_queue_duration_seconds_count{@}[5m]))`},
			{"Check the work duration.", `histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_work_duration_seconds_bucket{@}[5m])))`},
			{"Find the events that fill the queue.", `sum by (@cluster, name, informer_type) (rate(k8s_informer_watch_events_total{@}[5m]))`},
		},
		Mitigation: []string{
			"Too few workers: use more of them.",
			"Too many events: filter in the event handlers, by generation or by the fields that the controller uses, and lengthen the resync period or disable resyncs (often recommended: 5 to 10 s for ConfigMaps, 30 s to 2 min for Deployments, 10 to 30 min for Nodes).",
			"Retries that never succeed: see ControllerReconcileErrors.",
		},
	},
}

var controllerWorkerBusy = Alert{
	Name:      "ControllerWorkerBusy",
	Objective: catalog.Objectives.WorkerBusy,
	board:     controllerBoard,
	labels:    queueVariables,
	keep:      busyKeep,
	expr:      `max by (@cluster, @job, @instance, name) (workqueue_longest_running_processor_seconds{@}) > $threshold`,
	summary:   "A worker of " + thisQueue + " has been busy with one item for {{ $value | humanizeDuration }}.",
	description: "A worker of " + thisQueue + " on {{ $labels.@instance }} has been busy with one item for {{ $value | humanizeDuration }}; " +
		"the objective is at most $objective. It is probably stuck.",
	Runbook: Runbook{
		Meaning: "A worker took an item more than $objective ago and has not finished it. client-go updates this metric twice a second; no other metric shows a call that does not return.",
		Impact:  "The object is not reconciled: a queue never gives one item to two workers. One fewer worker is available. If all workers are stuck, ControllerQueueBlocked fires.",
		Diagnosis: []Step{
			{"Check the number of stuck workers: the slope of the unfinished work is one second per second for each.", `sum by (@cluster, @job, @instance, name) (deriv(workqueue_unfinished_work_seconds{@}[10m]))`},
			{"Check whether other work continues.", `sum by (@cluster, @job, @instance, name) (rate(workqueue_work_duration_seconds_count{@}[5m]))`},
			{"Find the cause in a goroutine dump: `/debug/pprof/goroutine?debug=2`.", ""},
		},
		Mitigation: []string{
			"The usual cause is an external call without a deadline: give each reconcile a context with a timeout (`ReconciliationTimeout` in controller-runtime).",
			"A reconcile that waits for a condition should return and requeue (`RequeueAfter`) instead of sleeping.",
			"Take a goroutine dump, then restart the process.",
			"If items may take that long, raise the objective `worker_busy`.",
		},
	},
}

var controllerItemsDropped = Alert{
	Name:      "ControllerItemsDropped",
	Objective: catalog.Objectives.ItemsDropped,
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "instance", "controller"},
	// Excludes terminal errors: most are mistakes in objects, which controllers report in their status.
	expr:    `increase(controller_dropped_total{@, reason="max_retries"}[$window]) > $threshold`,
	summary: "Controller " + controllerOf + " drops items.",
	description: "Controller " + controllerOf + ` on {{ $labels.@instance }} dropped {{ $value | printf "%.0f" }} items in $window after their last retry. ` +
		"Their objects are not reconciled until they change again.",
	Runbook: Runbook{
		Meaning: "An item failed more often than the controller allows and was dropped. It returns with the next event for its object, a resync, or the next start.",
		Impact:  "Objects are not in their desired state, and no worker reconciles them.",
		Diagnosis: []Step{
			{"Find the controllers.", `sum by (@cluster, name, controller, reason) (increase(controller_dropped_total{@}[1h])) > 0`},
			{"Check the number of retries before an item is dropped.", `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_item_retries_bucket{@}[1h])))`},
			{"Find the items and their errors in the log of the process.", ""},
		},
		Mitigation: []string{
			"Fix the cause, then requeue the items: change the objects, for example with an annotation, or restart the process.",
			"A retry limit is seldom right: with client-go's backoff from 5 ms, doubled up to 1000 s, ten retries take five seconds. Remove the limit, or lower the maximum backoff (for example to 30 s) so that items return soon after the cause is fixed.",
			"Return terminal errors as such (`reconcile.TerminalError` in controller-runtime) and report them in the status of the object.",
		},
	},
}
