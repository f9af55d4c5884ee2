package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var controllerReconcileErrors = Alert{
	Name:      "ControllerReconcileErrors",
	Objective: catalog.ReconcileErrors,
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
	summary: "Reconciles of " + controllerOf + " fail.",
	description: "{{ $value | humanizePercentage }} of the reconciles of " + controllerOf + " have failed for $for; " +
		"the objective is at most $objective.",
	Runbook: Runbook{
		Meaning: "More than $objective of a controller's reconciles end in an error or a panic, for $for, in windows of $window with at least $count that fail. The least number keeps a single object that always fails from alerting, whatever else the controller does: with a back-off of at most 30 s it fails ten times in $window, with client-go's default hardly any after its first five minutes.",
		Impact:  "Many objects are not brought to their desired state. Each failure makes the next attempt come later: client-go's default back-off begins at 5 ms, doubles each time and ends at 1000 s.",
		Diagnosis: []Step{
			{"Errors, errors that no retry can mend, or panics?", `sum by (@cluster, name, controller, result) (increase(controller_reconcile_total{@, result=~"error|terminal|panic"}[15m])) > 0`},
			{"Which requests fail, and how? 403: permissions; 404: something is not there; 409: conflicts; 422: the object is invalid; 5xx: the API server or a webhook.", `sum by (@cluster, name, verb, resource, code) (increase(k8s_client_requests_total{@, code!~"[123].."}[15m])) > 0`},
			{"How far has the back-off gone? Minutes mean that it has gone on for long.", `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_backoff_seconds_bucket{@}[15m])))`},
			{"How many items wait for their next attempt?", `sum by (@cluster, name, controller) (controller_queue_delayed_items{@})`},
			{"What are the errors? The log of the process has them, with the objects.", ""},
		},
		Mitigation: []string{
			"All controllers of a program, or several programs: the API server, its webhooks or the network. Look at the alerts about those first.",
			"One controller since a roll-out: go back to the version before.",
			"Conflicts (409): they are no errors but a sign to try again. Requeue without an error, or patch instead of updating.",
			"Once the cause is gone, items wait for the rest of their back-off, up to 1000 s by default. If that is too long, restart the process, which forgets it, and lower the longest back-off in its rate limiter (to 30 s for example).",
		},
	},
}

var controllerReconcilePanics = Alert{
	Name:      "ControllerReconcilePanics",
	Objective: catalog.ReconcilePanics,
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "instance", "controller"},
	expr:      `increase(controller_reconcile_total{@, result="panic"}[$window]) > $threshold`,
	summary:   "The reconciler of " + controllerOf + " panics.",
	description: "The reconciler of " + controllerOf + ` on {{ $labels.@instance }} panicked {{ $value | printf "%.0f" }} times in $window; ` +
		"it must not happen.",
	Runbook: Runbook{
		Meaning: "A reconcile panicked within the last $window. It is counted in passing and not recovered. controller-runtime recovers it by default and tries the item again; elsewhere the process ends, and if it does so before the next scrape, this alert sees nothing: alert on restarts of containers as well.",
		Impact:  "The object is not reconciled, again and again, or the process restarts each time and everything starts afresh.",
		Diagnosis: []Step{
			{"Which controllers?", `sum by (@cluster, name, controller) (increase(controller_reconcile_total{@, result="panic"}[1h])) > 0`},
			{"The stack is in the log of the process: search for `panic`, and in the log of the container before the restart (`kubectl logs --previous`).", ""},
		},
		Mitigation: []string{
			"A nil pointer for a field that is optional is the usual cause: look at which object it is, and at what it lacks.",
			"If one object causes it, changing or removing that object stops the loop until a fix is out.",
		},
	},
}

var controllerCleanupOverdue = Alert{
	Name:      "ControllerCleanupOverdue",
	Objective: catalog.CleanupOverdue,
	board:     controllerBoard,
	labels:    []string{"cluster", "job", "instance", "controller"},
	expr:      `controller_finalizer_overdue{@} > $threshold`,
	summary:   "Clean-ups of " + controllerOf + " are past their deadline.",
	description: "There have been clean-ups past their deadline for $for: {{ $value }} objects wait for the finalizer {{ $labels.finalizer }} of " +
		controllerOf + " on {{ $labels.@instance }}. Those that are still held by it cannot be deleted.",
	Runbook: Runbook{
		Meaning: "For $for there have been objects whose clean-up has not succeeded within its deadline, counted from the first attempt. The deadline is what the controller's author set for this finalizer. An object is forgotten 30 minutes after the last attempt, and at a restart: look for a `deletionTimestamp` before you believe that it is over.",
		Impact:  "Objects that the finalizer still holds stay in deletion: `kubectl delete` waits, a namespace that holds them stays `Terminating`, and nothing of the same name can be created. What they stand for elsewhere, such as a load balancer or a volume, goes on to cost money.",
		Diagnosis: []Step{
			{"Which finalizers, and how many objects?", `sum by (@cluster, name, controller, finalizer) (controller_finalizer_overdue{@}) > 0`},
			{"Do attempts fail, run into their timeout, or are there none?", `sum by (@cluster, name, controller, finalizer, result) (increase(controller_finalizer_attempts_total{@}[15m]))`},
			{"Does undoing what a failed attempt had begun take the time?", `histogram_quantile(0.99, sum by (le, @cluster, name, controller, finalizer, result) (rate(controller_finalizer_rollback_duration_seconds_bucket{@}[15m])))`},
			{"Which objects? Those with a `deletionTimestamp`: `kubectl get KIND -A -o json | jq '.items[] | select(.metadata.deletionTimestamp) | .metadata.namespace + \"/\" + .metadata.name'`. The log has the errors.", ""},
		},
		Mitigation: []string{
			"Bring back what the clean-up needs: the service that it calls, its credentials, its permissions.",
			"What it wants to remove is gone already: a clean-up must take that for success.",
			"`timeout` with results close to the deadline: give attempts more time, or make them go on where the last one stopped.",
			"Only when it is certain that nothing is left to clean up, take the finalizer out by hand: `kubectl patch KIND NAME --type=json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers/0\"}]'`, after a look at which entry it is.",
		},
	},
}
