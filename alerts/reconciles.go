package alerts

import (
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

var controllerReconcileErrors = Alert{
	Name:      "ControllerReconcileErrors",
	Objective: catalog.Objectives.ReconcileErrors,
	Reason:    "failures are retried with backoff; the cause is often outside the controller",
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "controller"},
	// With client-go's default backoff, a few objects that always fail have $count failures in five minutes only at the beginning.
	expr: `
(
  sum by (@cluster, @namespace, @job, name, controller) (rate(controller_reconcile_total{@, result=~"error|terminal|panic"}[$window]))
/
  sum by (@cluster, @namespace, @job, name, controller) (rate(controller_reconcile_total{@}[$window]))
) > $threshold
and
sum by (@cluster, @namespace, @job, name, controller) (increase(controller_reconcile_total{@, result=~"error|terminal|panic"}[$window])) >= $count
or
group by (@cluster, @namespace, @job, name, controller) (
  sum by (@cluster, @namespace, @job, name, controller) (` + prom.Occurred(`controller_reconcile_total{@, result=~"error|terminal|panic"}`, "30m") + `) >= $count
  unless
  sum by (@cluster, @namespace, @job, name, controller) (` + prom.Occurred(`controller_reconcile_total{@, result!~"error|terminal|panic"}`, "30m") + `) > 0
)
`,
	summary: "Reconciles of controller " + controllerIn + " have a high error rate.",
	description: "{{ $value | humanizePercentage }} of the reconciles by controller " + controllerIn + " have failed for $for; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Unless:  "several programs have this alert",
		Meaning: "The reconcile error rate of this controller, panics included, has exceeded $objective for $for, in windows of $window with at least $count failures. A controller without a success fires as well, with $count failures in 30 minutes: backoff makes its attempts rare.",
		Impact:  "Many objects are not in their desired state. Each failure delays the next attempt: client-go's default backoff starts at 5 ms and doubles each time, up to 1000 s.",
		Commands: []Step{
			listPods,
			replicaLog("error"),
			rollouts,
		},
		Queries: []Step{
			{"Errors, terminal errors and panics.", `sum by (result) (` + prom.Occurred(`controller_reconcile_total{@, `+ofThisProgram+`, controller="$CONTROLLER", result=~"error|terminal|panic"}`, "15m") + `) > 0`},
			{"Failed requests. 403: permissions. 404: a missing object. 409: conflicts. 422: an invalid object. 5xx: the API server or a webhook.", `sum by (verb, resource, code) (` + prom.Occurred(`k8s_client_requests_total{@, `+ofThisProgram+`, code!~"[123].."}`, "15m") + `) > 0`},
			{"Mean backoff. A backoff of minutes means that items have been failing for a long time.", `sum(rate(controller_backoff_seconds@sum{@, ` + ofThisProgram + `, controller="$CONTROLLER"}[15m])) / sum(rate(controller_backoff_seconds@count{@, ` + ofThisProgram + `, controller="$CONTROLLER"}[15m]))`},
		},
		Causes: []string{
			"Several controllers or programs: the API server, its webhooks or the network. Check their alerts first.",
			"Conflicts (409) only require a retry: requeue without an error, or patch instead of updating.",
			"The cause is fixed, but items are still in backoff, for up to 1000 s: restart the program, which resets it.",
		},
		Resolves: "when the error rate falls to $objective over $window: the values of the first query decrease.",
		Escalate: controllerTeam + ", or " + apiServerTeam + " if several programs have this alert",
	},
}

var controllerReconcileSlow = Alert{
	Name:      "ControllerReconcileSlow",
	Objective: catalog.Objectives.ReconcileDuration,
	Reason:    "off unless a controller has a threshold of its own",
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "controller"},
	keep:      10 * time.Minute,
	optIn:     true,
	expr: `
histogram_quantile($quantile, sum by (@le, @cluster, @namespace, @job, name, controller) (rate(controller_reconcile_duration_seconds@bucket{@}[$window]))) > $threshold
and
sum by (@cluster, @namespace, @job, name, controller) (increase(controller_reconcile_duration_seconds@count{@}[$window])) >= $count
`,
	summary: "Reconciles of controller " + controllerIn + " are slow.",
	description: "Reconciles of controller " + controllerIn + " take {{ $value | humanizeDuration }} (99th percentile); " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "This controller's reconcile duration (99th percentile) has exceeded its own objective for $for, in windows of $window with at least $count reconciles. Only controllers with a threshold for `reconcile_duration` (`controllers` in the generator's configuration) have this alert.",
		Impact:  "Each reconcile occupies a worker: the queue grows when all are busy.",
		Commands: []Step{
			listPods,
			podUsage,
			replicaLog("slow|timeout|throttl"),
		},
		Queries: []Step{
			{"Duration by process.", `histogram_quantile(0.99, sum by (@le, @pod) (rate(controller_reconcile_duration_seconds@bucket{@, ` + ofThisProgram + `, controller="$CONTROLLER"}[5m])))`},
			{"Requests to the API server: are they slow?", `histogram_quantile(0.99, sum by (@le, verb) (rate(k8s_client_request_duration_seconds@bucket{@, ` + ofThisProgram + `}[5m])))`},
		},
		Causes: []string{
			"Reads that bypass the cache: use a lister or the cached client.",
			"Client-side throttling: see ControllerClientThrottled.",
			"External calls: start them and return, and check the result in a later reconcile.",
		},
		Resolves: "10 minutes after the duration has fallen to $objective, or there are fewer than $count reconciles.",
		Escalate: controllerTeam,
	},
}

var controllerReconcilePanics = Alert{
	Name:        "ControllerReconcilePanics",
	Objective:   catalog.Objectives.ReconcilePanics,
	Reason:      "items are retried, or the process restarts; the fix needs a new release",
	board:       controllerBoard,
	labels:      []string{"cluster", "job", "instance", "controller"},
	expr:        `(` + occurred(`controller_reconcile_total{@, result="panic"}`) + `) > $threshold`,
	summary:     "The reconciler of controller " + controllerIn + " panics.",
	description: "The reconciler of controller " + controllerIn + inProcess + ` panicked {{ $value | printf "%.0f" }} times in $window.`,
	Runbook: Runbook{
		Unless:  "the Pod crash loops and no replica is ready",
		Meaning: "A reconcile panicked within the last $window. controller-runtime recovers panics by default and retries the item; in other programs, the process crashes.",
		Impact:  "The object is not reconciled, or the process crash loops.",
		Commands: []Step{
			stackTrace,
			describePod,
			rollouts,
		},
		Queries: []Step{
			{"Panics over all processes.", `sum by (@namespace, @pod, name, controller) (` + prom.Occurred(`controller_reconcile_total{@, `+inThisCluster+`, result="panic"}`, "1h") + `) > 0`},
		},
		Causes: []string{
			"The usual cause is a nil pointer for an optional field: find the object and the missing field.",
			"One object causes the panic: change or remove that object until the fix is released.",
		},
		Resolves: "$window after the last panic.",
		Escalate: controllerTeam,
	},
}

// cleanupsAbove returns the number of cleanups above a duration over the window, for each finalizer of a program. The duration must be
// a bucket.
func cleanupsAbove(duration string) string {
	within := func(bound string) string {
		return "sum by (@cluster, @namespace, @job, name, controller, finalizer) (" + occurred("controller_finalizer_duration_seconds@within("+bound+"){@}") + ")"
	}
	return within("+Inf") + "\n- " + within(duration)
}

var controllerCleanupSlow = Alert{
	Name:      "ControllerCleanupSlow",
	Objective: catalog.Objectives.CleanupDuration,
	Reason:    "deletions are delayed but complete",
	board:     controllerBoard,
	labels:    []string{"cluster", "@namespace", "job", "controller"},
	// A mean hides a single long cleanup among fast ones.
	expr: `
(
` + cleanupsAbove("$threshold") + `
) >= $count
or
(
` + cleanupsAbove("$outlier") + `
) > 0.5
`,
	summary: "Finalizer cleanups of controller " + controllerIn + " are slow.",
	description: `{{ $value | printf "%.0f" }} cleanup attempts for the finalizer {{ $labels.finalizer }} of controller ` + controllerIn +
		" took longer than $objective during the last $window.",
	Runbook: Runbook{
		Meaning: "Within $window, at least $count cleanup attempts for this finalizer took longer than $objective, or a single one took longer than $outlier s, whether they succeeded or not. Attempts that have not returned do not count.",
		Impact:  "Each attempt blocks a worker of the controller. A mass deletion then delays all other work of the controller as well.",
		Commands: []Step{
			replicaLog("finalizer|cleanup|timeout"),
			podUsage,
			terminatingObjects,
		},
		Queries: []Step{
			{"Mean duration by result. A constant value for `timeout` is the timeout of an attempt.", `sum by (result) (rate(controller_finalizer_duration_seconds@sum{@, ` + ofThisProgram + `, controller="$CONTROLLER", finalizer="$FINALIZER"}[15m])) / (sum by (result) (rate(controller_finalizer_duration_seconds@count{@, ` + ofThisProgram + `, controller="$CONTROLLER", finalizer="$FINALIZER"}[15m])) > 0)`},
			{"Attempts by result.", `sum by (result) (` + prom.Occurred(`controller_finalizer_attempts_total{@, `+ofThisProgram+`, controller="$CONTROLLER", finalizer="$FINALIZER"}`, "15m") + `)`},
			{"Busy workers: does a cleanup block all of them?", `max by (@pod) (controller_active_workers{@, ` + ofThisProgram + `, controller="$CONTROLLER"})`},
		},
		Causes: []string{
			"A slow external service: cleanups should start the deletion, return, and check it in a later attempt.",
			"`timeout`: give attempts a shorter timeout, and let them continue where the last one stopped.",
			"Requests are throttled by the client-side rate limiter: see ControllerClientThrottled.",
			"If cleanups of this controller need longer, silence the alert for it: the histogram has no larger bucket to set as the objective.",
		},
		Resolves: "$window after the last slow attempt.",
		Escalate: controllerTeam,
	},
}

var controllerCleanupOverdue = Alert{
	Name:      "ControllerCleanupOverdue",
	Objective: catalog.Objectives.CleanupOverdue,
	Reason:    "deletions are blocked; running workloads are not affected",
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "instance", "controller"},
	expr:      `controller_finalizer_overdue{@} > $threshold`,
	summary:   "Finalizer cleanups of controller " + controllerIn + " have exceeded their deadline.",
	description: "{{ $value }} cleanups for the finalizer {{ $labels.finalizer }} of controller " + controllerIn +
		inProcess + " have exceeded their deadline for $for. Objects that still have the finalizer cannot be deleted.",
	Runbook: Runbook{
		Meaning: "For $for, finalizer cleanups of objects have not succeeded within their deadline, counted from the first attempt. The author of the controller sets the deadline.",
		Impact:  "Objects blocked by the finalizer stay terminating: `kubectl delete` waits, their namespace stays `Terminating`, and no object with the same name can be created. External resources, such as volumes, continue to cost money.",
		Commands: []Step{
			podLog("finalizer|cleanup|error"),
			terminatingObjects,
			goroutines,
		},
		Queries: []Step{
			{"Attempts. `error`: see the log. `timeout`: too slow. None: the controller is stuck.", `sum by (result) (` + prom.Occurred(`controller_finalizer_attempts_total{@, `+ofThisProcess+`, controller="$CONTROLLER", finalizer="$FINALIZER"}`, "15m") + `)`},
			{"Objects that have exceeded their cleanup deadline.", `controller_finalizer_overdue{@, ` + ofThisProcess + `, controller="$CONTROLLER"}`},
		},
		Causes: []string{
			"A dependency of the cleanup fails: restore the external service, its credentials, its permissions.",
			"An external resource no longer exists: the cleanup must treat that as success.",
			"`timeout`: give attempts more time, or let them continue where the last one stopped.",
			"Nothing is left to clean up: [remove the finalizer by hand](" + onCallPage + "#finalizers).",
		},
		Resolves: "when the cleanups succeed: the second query is 0. An object is forgotten 30 minutes after its last attempt and at a restart, so check with the second command.",
		Escalate: controllerTeam,
	},
}
