package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var controllerReconcileErrors = Alert{
	Name:      "ControllerReconcileErrors",
	Objective: catalog.Objectives.ReconcileErrors,
	Reason:    "failures are retried with backoff; the cause is often outside the controller",
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "controller"},
	expr: `
(
  sum by (@cluster, @namespace, @job, name, controller) (rate(controller_reconcile_total{@, result=~"error|terminal|panic"}[$window]))
/
  sum by (@cluster, @namespace, @job, name, controller) (rate(controller_reconcile_total{@}[$window]))
) > $threshold
and
sum by (@cluster, @namespace, @job, name, controller) (increase(controller_reconcile_total{@, result=~"error|terminal|panic"}[$window])) >= $count
`,
	summary: "Reconciles of " + controllerOf + " have a high error rate.",
	description: "{{ $value | humanizePercentage }} of the reconciles of " + controllerOf + " have failed for $for; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Unless:  "several programs have this alert",
		Meaning: "The reconcile error rate of this controller, panics included, has exceeded $objective for $for, in windows of $window with at least $count failures.",
		Impact:  "Many objects are not in their desired state. Each failure delays the next attempt: client-go's default backoff starts at 5 ms and doubles each time, up to 1000 s.",
		Commands: []Step{
			listPods,
			replicaLog("error"),
			rollouts,
		},
		Queries: []Step{
			{"Errors, terminal errors and panics.", `sum by (result) (increase(controller_reconcile_total{@, ` + ofThisProgram + `, controller="$CONTROLLER", result=~"error|terminal|panic"}[15m])) > 0`},
			{"Failed requests. 403: permissions. 404: a missing object. 409: conflicts. 422: an invalid object. 5xx: the API server or a webhook.", `sum by (verb, resource, code) (increase(k8s_client_requests_total{@, ` + ofThisProgram + `, code!~"[123].."}[15m])) > 0`},
			{"Mean backoff. A backoff of minutes means that items have been failing for a long time.", `sum(rate(controller_backoff_seconds_sum{@, ` + ofThisProgram + `, controller="$CONTROLLER"}[15m])) / sum(rate(controller_backoff_seconds_count{@, ` + ofThisProgram + `, controller="$CONTROLLER"}[15m]))`},
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

var controllerReconcilePanics = Alert{
	Name:        "ControllerReconcilePanics",
	Objective:   catalog.Objectives.ReconcilePanics,
	Reason:      "items are retried, or the process restarts; the fix needs a new release",
	board:       controllerBoard,
	labels:      []string{"cluster", "job", "instance", "controller"},
	expr:        `increase(controller_reconcile_total{@, result="panic"}[$window]) > $threshold`,
	summary:     "The reconciler of " + controllerOf + " panics.",
	description: "The reconciler of " + controllerOf + inProcess + ` panicked {{ $value | printf "%.0f" }} times in $window.`,
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
			{"Panics over all processes.", `sum by (@namespace, @pod, name, controller) (increase(controller_reconcile_total{@, ` + inThisCluster + `, result="panic"}[1h])) > 0`},
		},
		Causes: []string{
			"The usual cause is a nil pointer for an optional field: find the object and the missing field.",
			"One object causes the panic: change or remove that object until the fix is released.",
		},
		Resolves: "$window after the last panic.",
		Escalate: controllerTeam,
	},
}

// cleanups returns the sum of a series of cleanup durations over the window, for each finalizer of a program.
func cleanups(series string) string {
	return "sum by (@cluster, @namespace, @job, name, controller, finalizer) (" + occurred(series) + ")"
}

var controllerCleanupSlow = Alert{
	Name:      "ControllerCleanupSlow",
	Objective: catalog.Objectives.CleanupDuration,
	Reason:    "deletions are delayed but complete",
	board:     controllerBoard,
	labels:    []string{"cluster", "@namespace", "job", "controller"},
	expr: `
` + cleanups(`controller_finalizer_duration_seconds_sum{@}`) + `
/
(` + cleanups(`controller_finalizer_duration_seconds_count{@}`) + ` > 0)
> $threshold
`,
	summary: "Finalizer cleanups of " + controllerOf + " are slow.",
	description: "Cleanups for the finalizer {{ $labels.finalizer }} of " + controllerOf +
		" took {{ $value | humanizeDuration }} on average during the last $window; the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "Cleanup attempts for this finalizer have taken longer than $objective on average over $window, regardless of their result. Attempts that have not returned do not count.",
		Impact:  "Each attempt blocks a worker of the controller. When many objects are deleted at once, their deletion and the other work of the controller are delayed.",
		Commands: []Step{
			replicaLog("finalizer|cleanup|timeout"),
			podUsage,
			terminatingObjects,
		},
		Queries: []Step{
			{"Mean duration by result. A constant value for `timeout` is the timeout of an attempt.", `sum by (result) (rate(controller_finalizer_duration_seconds_sum{@, ` + ofThisProgram + `, controller="$CONTROLLER", finalizer="$FINALIZER"}[15m])) / (sum by (result) (rate(controller_finalizer_duration_seconds_count{@, ` + ofThisProgram + `, controller="$CONTROLLER", finalizer="$FINALIZER"}[15m])) > 0)`},
			{"Attempts by result.", `sum by (result) (increase(controller_finalizer_attempts_total{@, ` + ofThisProgram + `, controller="$CONTROLLER", finalizer="$FINALIZER"}[15m]))`},
			{"Busy workers: does a cleanup block all of them?", `max by (@pod) (controller_active_workers{@, ` + ofThisProgram + `, controller="$CONTROLLER"})`},
		},
		Causes: []string{
			"A slow external service: cleanups should start the deletion, return, and check it in a later attempt.",
			"`timeout`: give attempts a shorter timeout, and let them continue where the last one stopped.",
			"Requests are throttled by the client-side rate limiter: see ControllerClientThrottled.",
			"If cleanups need longer, set `cleanup_duration` for this controller, under `controllers` in the generator's configuration.",
		},
		Resolves: "when the attempts of the last $window took at most $objective on average, or there were none.",
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
	summary:   "Finalizer cleanups of " + controllerOf + " have exceeded their deadline.",
	description: "{{ $value }} cleanups for the finalizer {{ $labels.finalizer }} of " + controllerOf +
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
			{"Attempts. `error`: see the log. `timeout`: too slow. None: the controller is stuck.", `sum by (result) (increase(controller_finalizer_attempts_total{@, ` + ofThisProcess + `, controller="$CONTROLLER", finalizer="$FINALIZER"}[15m]))`},
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
