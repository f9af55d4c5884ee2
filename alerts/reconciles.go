package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var controllerReconcileErrors = Alert{
	Name:      "ControllerReconcileErrors",
	Objective: catalog.Objectives.ReconcileErrors,
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "controller"},
	expr: `
(
  sum by (@cluster, @job, name, controller) (rate(controller_reconcile_total{@, result=~"error|terminal|panic"}[$window]))
/
  sum by (@cluster, @job, name, controller) (rate(controller_reconcile_total{@}[$window]))
) > $threshold
and
sum by (@cluster, @job, name, controller) (increase(controller_reconcile_total{@, result=~"error|terminal|panic"}[$window])) >= $count
`,
	summary: "Reconciles of " + controllerOf + " have a high error rate.",
	description: "{{ $value | humanizePercentage }} of the reconciles of " + controllerOf + " have failed for $for; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "The reconcile error rate of a controller, panics included, has exceeded $objective for $for, in windows of $window with at least $count failures. The minimum keeps a single object that always fails from firing the alert, regardless of the other work of the controller: with a backoff of at most 30 s it fails ten times in $window; with client-go's default, rarely after the first five minutes.",
		Impact:  "Many objects are not in their desired state. Each failure delays the next attempt: client-go's default backoff starts at 5 ms, doubles each time and ends at 1000 s.",
		Diagnosis: []Step{
			{"Distinguish errors, terminal errors and panics.", `sum by (@cluster, name, controller, result) (increase(controller_reconcile_total{@, result=~"error|terminal|panic"}[15m])) > 0`},
			{"Find the failing requests. 403: permissions. 404: a missing object. 409: conflicts. 422: an invalid object. 5xx: the API server or a webhook.", `sum by (@cluster, name, verb, resource, code) (increase(k8s_client_requests_total{@, code!~"[123].."}[15m])) > 0`},
			{"Check the backoff. Minutes mean that items have been failing for a long time.", `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_backoff_seconds_bucket{@}[15m])))`},
			{"Check the number of delayed items.", `sum by (@cluster, name, controller) (controller_queue_delayed_items{@})`},
			{"Find the errors and their objects in the log of the process.", ""},
		},
		Mitigation: []string{
			"All controllers of a program, or several programs: the API server, its webhooks or the network. Check their alerts first.",
			"One controller since a rollout: roll back.",
			"Conflicts (409) are not errors but a request to retry: requeue without an error, or patch instead of updating.",
			"After the cause is fixed, items wait for the rest of their backoff, up to 1000 s by default. If that is too long, restart the process, which resets the backoff, and lower the maximum backoff of its rate limiter (for example to 30 s).",
		},
	},
}

var controllerReconcilePanics = Alert{
	Name:        "ControllerReconcilePanics",
	Objective:   catalog.Objectives.ReconcilePanics,
	board:       controllerBoard,
	labels:      []string{"cluster", "job", "instance", "controller"},
	expr:        `increase(controller_reconcile_total{@, result="panic"}[$window]) > $threshold`,
	summary:     "The reconciler of " + controllerOf + " panics.",
	description: "The reconciler of " + controllerOf + ` on {{ $labels.@instance }} panicked {{ $value | printf "%.0f" }} times in $window.`,
	Runbook: Runbook{
		Meaning: "A reconcile panicked within the last $window. It is counted and not recovered. controller-runtime recovers panics by default and retries the item. Elsewhere the process ends; if it ends before the next scrape, this alert does not fire: alert on container restarts as well.",
		Impact:  "The object is not reconciled, or the process crash loops.",
		Diagnosis: []Step{
			{"Find the controllers.", `sum by (@cluster, name, controller) (increase(controller_reconcile_total{@, result="panic"}[1h])) > 0`},
			{"Find the stack trace in the log of the process: search for `panic`, also in the log of the container before its restart (`kubectl logs --previous`).", ""},
		},
		Mitigation: []string{
			"The usual cause is a nil pointer for an optional field: find the object and the missing field.",
			"If one object causes the panic, change or remove that object until the fix is released.",
		},
	},
}

var controllerCleanupOverdue = Alert{
	Name:      "ControllerCleanupOverdue",
	Objective: catalog.Objectives.CleanupOverdue,
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "instance", "controller"},
	expr:      `controller_finalizer_overdue{@} > $threshold`,
	summary:   "Finalizer cleanups of " + controllerOf + " have exceeded their deadline.",
	description: "{{ $value }} cleanups for the finalizer {{ $labels.finalizer }} of " + controllerOf +
		" on {{ $labels.@instance }} have exceeded their deadline for $for. Objects that still have the finalizer cannot be deleted.",
	Runbook: Runbook{
		Meaning: "For $for, cleanups of objects have not succeeded within their deadline, counted from the first attempt. The author of the controller sets the deadline of each finalizer. An object is forgotten 30 minutes after its last attempt, and at a restart: check for a `deletionTimestamp` to verify that the deletion is complete.",
		Impact:  "Objects blocked by the finalizer stay terminating: `kubectl delete` waits, their namespace stays `Terminating`, and no object with the same name can be created. Their external resources, such as load balancers and volumes, continue to cost money.",
		Diagnosis: []Step{
			{"Find the finalizers and the number of objects.", `sum by (@cluster, name, controller, finalizer) (controller_finalizer_overdue{@}) > 0`},
			{"Check whether attempts fail, time out, or are missing.", `sum by (@cluster, name, controller, finalizer, result) (increase(controller_finalizer_attempts_total{@}[15m]))`},
			{"Check whether rollbacks of failed attempts are slow.", `histogram_quantile(0.99, sum by (le, @cluster, name, controller, finalizer, result) (rate(controller_finalizer_rollback_duration_seconds_bucket{@}[15m])))`},
			{"Find the objects by their `deletionTimestamp`: `kubectl get KIND -A -o json | jq '.items[] | select(.metadata.deletionTimestamp) | .metadata.namespace + \"/\" + .metadata.name'`. The log has the errors.", ""},
		},
		Mitigation: []string{
			"Restore the dependencies of the cleanup: the external service, its credentials, its permissions.",
			"A cleanup must treat external resources that no longer exist as success.",
			"`timeout` with durations close to the deadline: give attempts more time, or let them continue where the last one stopped.",
			"Only if nothing is left to clean up, remove the finalizer by hand, after checking the index of its entry: `kubectl patch KIND NAME --type=json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers/0\"}]'`.",
		},
	},
}
