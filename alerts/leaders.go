package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var controllerLeaderMissing = Alert{
	Name:      "ControllerLeaderMissing",
	Objective: catalog.Objectives.LeaderMissing,
	gauge:     true,
	board:     leaderBoard,
	labels:    []string{"cluster", "lock"},
	// By lock, not by process or job: all candidates share one leader. Exporters need a leader only for audits and have their
	// own alert.
	// Programs without the library are seen from outside, by their Leases, and each election once.
	record: leaseRecords,
	expr: `
max by (@cluster, name, lock) (controller_leader{@, name!~"` + exporterNames + `"}) == 0
or on (@cluster, lock)
(` + leaseExpired("=~") + `)`,
	summary: "No leader for " + thisLock + ".",
	description: "No candidate for " + thisLock + " has been the leader for more than $for. " +
		"Leader-only work has stopped.",
	Runbook: Runbook{
		Meaning: "No candidate for the lock has held it for longer than $for. With client-go's defaults, a leader that dies is replaced within 15 to 25 s, and one that releases its lock within 5 s. Leases in the namespaces `$leaseNamespaces` (`leaseNamespaces` of the generator's configuration) count as well, whether or not their candidates use the library. Processes that are not scraped do not count: a leader with failing scrapes looks like no leader, and if no candidate is scraped, the alert does not fire. Candidates of two installations with the same program and lock in one cluster look like one election: set a unique name in the options of `leader.NewLock`.",
		Impact:  "No object is reconciled. The replicas run, are ready, and wait.",
		Diagnosis: []Step{
			{"Check for processes that are not scraped. One of them may be the leader.", `up{@} == 0`},
			{"Find the candidates.", `controller_leader{@}`},
			{"Check the results of their attempts. `conflict`: another process writes the lock. `error`: the API server does not respond, or rejects the request.", `sum by (@cluster, name, lock, result) (increase(controller_leader_renew_duration_seconds_count{@}[15m]))`},
			{"Find the holder: `kubectl -n NAMESPACE get lease NAME -o yaml`. A `holderIdentity` that is not among the candidates is a process that is not scraped, or a former process until its Lease expires.", ""},
			{"Check the permission: `kubectl auth can-i update leases -n NAMESPACE --as=system:serviceaccount:NAMESPACE:NAME`", ""},
		},
		Mitigation: []string{
			"API server unreachable or slow: fix that first. Leaders recover without action.",
			"Permissions: `get`, `create` and `update` on Leases in the namespace of the lock.",
			"The holder is a process of another release or namespace with the same name: stop it, or give it its own lock.",
			"A Lease that was edited by hand, or written with a clock far ahead: delete it. The candidates create it again.",
		},
	},
}

var controllerLeaderChanges = Alert{
	Name:      "ControllerLeaderChanges",
	Objective: catalog.Objectives.LeaderChanges,
	board:     leaderBoard,
	labels:    []string{"cluster", "lock"},
	expr:      `sum by (@cluster, name, lock) (increase(controller_leader_transitions_total{@, event="acquired"}[$window])) >= $threshold`,
	summary:   "Frequent leader transitions of " + thisLock + ".",
	description: `{{ $value | printf "%.0f" }} leader transitions of ` + thisLock + " in $window; " +
		"the objective is fewer than $objective.",
	Runbook: Runbook{
		Meaning: "Processes became the leader $objective times or more in $window, over all candidates. A rollout causes at most one transition per replica. A process that leads before its first scrape is not counted, so a crash loop shows in container restarts instead.",
		Impact:  "Each transition is a pause of up to 25 s with client-go's defaults, followed by a full start: filling caches and reconciling everything. Two processes may briefly act as the leader.",
		Diagnosis: []Step{
			{"Distinguish lost and released locks. `lost`: renewals failed. `released`: the processes shut down gracefully; find out what restarts them.", `sum by (@cluster, name, lock, @instance, event) (increase(controller_leader_transitions_total{@}[15m])) > 0`},
			{"Check the duration of lease renewals. client-go gives up after 10 s.", `histogram_quantile(0.99, sum by (le, @cluster, name, lock, result) (rate(controller_leader_renew_duration_seconds_bucket{@}[5m])))`},
			{"Check the client-side rate limiter, which renewals share with all requests of their client. (No result if the program neither sets a `RateLimiter` nor registers `apiclient.NewMetrics`.)", `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_client_throttle_wait_seconds_bucket{@}[5m])))`},
		},
		Mitigation: []string{
			"Slow API server or etcd: see their own alerts. Longer intervals (`LeaseDuration`, `RenewDeadline`, `RetryPeriod` of for example 60, 40 and 8 s) tolerate more, but a failover takes longer.",
			"A process short of CPU cannot renew: check its throttling and raise its limit.",
			"Give leader election its own client, so that renewals do not wait for other requests.",
			"Restarts: find out why the processes end (probes, memory, panics).",
		},
	},
}

var controllerLeaderSlowRenewals = Alert{
	Name:      "ControllerLeaderSlowRenewals",
	Objective: catalog.Objectives.SlowRenewals,
	board:     leaderBoard,
	// Without instance, so that the linked dashboard shows all candidates of the lock.
	labels:  []string{"cluster", "job", "lock"},
	expr:    `increase(controller_leader_slow_renewals_total{@}[$window]) >= $threshold`,
	summary: "Renewals of " + thisLock + " are slow.",
	description: "{{ $labels.@instance }} renewed " + thisLock + ` too slowly {{ $value | printf "%.0f" }} times in $window; ` +
		"the objective is fewer than $objective. Without a success within 10 s (client-go's default), it loses the lock.",
	Runbook: Runbook{
		Meaning: "Requests to renew the lock took longer than the retry period (client-go's default: 2 s), $objective times or more in $window. A renewal that finally succeeds keeps the lock; after 10 s without a success (client-go's default) the leader gives it up.",
		Impact:  "None yet. Leader transitions may follow.",
		Diagnosis: []Step{
			{"Check the duration and result of renewals.", `histogram_quantile(0.99, sum by (le, @cluster, name, lock, result) (rate(controller_leader_renew_duration_seconds_bucket{@}[5m])))`},
			{"Check whether other requests of the program are slow. If so, the cause is the API server, the network or a lack of CPU.", `histogram_quantile(0.99, sum by (le, @cluster, name, verb) (rate(k8s_client_request_duration_seconds_bucket{@}[5m])))`},
			{"Check the client-side rate limiter. (No result if the program neither sets a `RateLimiter` nor registers `apiclient.NewMetrics`.)", `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_client_throttle_wait_seconds_bucket{@}[5m])))`},
		},
		Mitigation: []string{
			"Slow writes of the API server: check the disk of etcd and admission webhooks that match Leases.",
			"Client-side rate limit: give leader election its own client, or raise `QPS` and `Burst`.",
			"CPU throttling: raise the limit of the process.",
		},
	},
}
