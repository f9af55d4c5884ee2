package alerts

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var controllerLeaderMissing = Alert{
	Name:      "ControllerLeaderMissing",
	Objective: catalog.LeaderMissing,
	board:     leaderBoard,
	labels:    []string{"cluster", "lock"},
	// By the lock and not by the process or the job: a single leader among all candidates is what there should be. Without
	// a leader, exporters go on with nearly everything: they have an alert of their own.
	expr:    `max by (@cluster, name, lock) (controller_leader{@, name!~"` + exporterNames + `"}) == 0`,
	summary: "Nobody holds the " + thisLock + ".",
	description: "None of the candidates for the " + thisLock + " has led for more than $for. " +
		"What only the leader does is not done.",
	Runbook: Runbook{
		Meaning: "Every process that fights for the lock says that it does not hold it, for longer than $for. With client-go's usual times a leader that dies is replaced after 15 to 25 s, one that releases its lock within 5 s. Processes that are not scraped cannot be seen here: a leader whose scrapes fail looks the same as none, and if no candidate is scraped, the alert is silent. Candidates of two installations with the same program and lock in one cluster look like one election: the name given to `Observer.Lock` has to be unique in a cluster.",
		Impact:  "Nothing is reconciled. The replicas run, are ready, and wait.",
		Diagnosis: []Step{
			{"Is a process not scraped? It may be the leader, and nothing is wrong with the lock.", `up{@} == 0`},
			{"Which candidates are there?", `controller_leader{@}`},
			{"What do their attempts meet? `conflict`: somebody else writes the lock; `error`: the API server does not answer, or refuses.", `sum by (@cluster, name, lock, result) (increase(controller_leader_renew_duration_seconds_count{@}[15m]))`},
			{"Who holds it? `kubectl -n NAMESPACE get lease NAME -o yaml`: a `holderIdentity` that is none of the candidates is a process that is not scraped, or one that is gone, until its lease expires.", ""},
			{"May they write it? `kubectl auth can-i update leases -n NAMESPACE --as=system:serviceaccount:NAMESPACE:NAME`", ""},
		},
		Mitigation: []string{
			"API server unreachable or slow: that comes first; leaders come back by themselves.",
			"Permissions: `get`, `create` and `update` on Leases in the lock's namespace.",
			"The holder is a process of another release or namespace that uses the same name: stop it, or give it a lock of its own.",
			"A lease that was changed by hand, or written by a clock far ahead: delete the Lease; the candidates create it again.",
		},
	},
}

var controllerLeaderChanges = Alert{
	Name:      "ControllerLeaderChanges",
	Objective: catalog.LeaderChanges,
	board:     leaderBoard,
	labels:    []string{"cluster", "lock"},
	expr:      `sum by (@cluster, name, lock) (increase(controller_leader_transitions_total{@, event="acquired"}[$window])) >= $threshold`,
	summary:   "The leader of the " + thisLock + " changes too often.",
	description: "The " + thisLock + ` has had {{ $value | printf "%.0f" }} new leaders in $window; ` +
		"the objective is fewer than $objective.",
	Runbook: Runbook{
		Meaning: "A process became the leader $objective times or more in $window, all candidates taken together. A roll-out makes at most as many changes as there are replicas. A process that leads before it has been scraped for the first time is not counted, so a crash loop shows in the restarts of containers instead.",
		Impact:  "Each change is a pause of up to 25 s with client-go's usual times, followed by a full start: caches, and a reconcile of everything. For a moment two processes may believe that they lead.",
		Diagnosis: []Step{
			{"Are locks lost or released? `lost`: they could not be renewed in time. `released`: the processes ended in an orderly way, so look at what restarts them.", `sum by (@cluster, name, lock, @instance, event) (increase(controller_leader_transitions_total{@}[15m])) > 0`},
			{"How long do renewals take? client-go gives up after 10 s.", `histogram_quantile(0.99, sum by (le, @cluster, name, lock, result) (rate(controller_leader_renew_duration_seconds_bucket{@}[5m])))`},
			{"Does the client's own rate limiter hold them up? Renewals share it with everything else unless they have a client of their own. (There is no result where the program sets no `RateLimiter`.)", `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_client_throttle_wait_seconds_bucket{@}[5m])))`},
		},
		Mitigation: []string{
			"Slow API server or etcd: see their own alerts. Longer times (`LeaseDuration`, `RenewDeadline`, `RetryPeriod` of 60, 40 and 8 s for example) bear more, and a failover takes longer.",
			"A process short of CPU cannot renew: look at its throttling and raise its limit.",
			"Give leader election a client of its own, so that it does not wait behind other requests.",
			"Restarts: look at why the processes end (probes, memory, panics).",
		},
	},
}

var controllerLeaderSlowRenewals = Alert{
	Name:      "ControllerLeaderSlowRenewals",
	Objective: catalog.SlowRenewals,
	board:     leaderBoard,
	// Not by instance: the panels about the lock need all of its candidates.
	labels:  []string{"cluster", "job", "lock"},
	expr:    `increase(controller_leader_slow_renewals_total{@}[$window]) >= $threshold`,
	summary: "Renewals of the " + thisLock + " are slow.",
	description: "{{ $labels.@instance }} renewed the " + thisLock + ` too slowly {{ $value | printf "%.0f" }} times in $window; ` +
		"the objective is fewer than $objective. If none succeeds within 10 s (client-go's usual), the lock is lost.",
	Runbook: Runbook{
		Meaning: "A request to renew the lock took longer than the time after which it is tried again (client-go's usual: 2 s), $objective times or more in $window. One that succeeds in the end keeps the lock; after 10 s without a success (client-go's usual) it is given up.",
		Impact:  "None yet. It comes before changes of the leader.",
		Diagnosis: []Step{
			{"How slow, and with which result?", `histogram_quantile(0.99, sum by (le, @cluster, name, lock, result) (rate(controller_leader_renew_duration_seconds_bucket{@}[5m])))`},
			{"Are other requests of the program slow as well? Then it is the API server, the network or the CPU.", `histogram_quantile(0.99, sum by (le, @cluster, name, verb) (rate(k8s_client_request_duration_seconds_bucket{@}[5m])))`},
			{"Or do they wait for the client's own rate limiter? (There is no result where the program sets no `RateLimiter`.)", `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_client_throttle_wait_seconds_bucket{@}[5m])))`},
		},
		Mitigation: []string{
			"Slow writes of the API server: look at etcd's disk and at admission webhooks that match Leases.",
			"Client-side rate limit: give leader election a client of its own, or raise `QPS` and `Burst`.",
			"CPU throttling: raise the limit of the process.",
		},
	},
}
