package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// What fails is nothing where there is nothing, or where nothing happens: a program without a decorated reconciler is no
// fault.
const (
	reconcilesFailing = `sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program, result=~"error|terminal|panic"}[$__rate_interval])) / clamp_min(sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program}[$__rate_interval])), 1e-9)`
	requestsFailing   = `(sum by (@cluster, name) (rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[$__rate_interval])) or 0 * sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval]))) / clamp_min(sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval])), 1e-9)`
	leaderless        = `max by (@cluster, name, lock) (controller_leader{@program}) == bool 0`
)

func locksWithoutLeader() panel {
	return single{
		header: header{id: 20, title: "Without a leader", unit: "short",
			about: "Locks that no process holds, as far as the candidates know. Normal is 0, except for the seconds of a handover; No data where no lock is decorated. Otherwise see the dashboard of leader election."},
		query: `sum(` + leaderless + `)`,
		red:   1,
	}
}

func worstReconciles(t catalog.Targets) panel {
	o := t.Of(catalog.ReconcileErrors)
	return single{
		header: header{id: 21, title: "Failing reconciles", unit: "percentunit",
			about: "Share of the reconciles that fail, of the controller that fails most. Near 0 is normal, also when nothing happens. The objective is " + o.Goal() + "."},
		query: `max(` + reconcilesFailing + `)`,
		red:   o.Threshold,
	}
}

func longestWait(t catalog.Targets) panel {
	o := t.Of(catalog.QueueWait)
	return single{
		header: header{id: 22, title: "Queue wait p99", unit: "s",
			about: "99th percentile of the time that items wait in a queue, of the slowest queue, of programs with the library and without. Milliseconds are normal. The objective is " + o.Goal() + ". The variable for the program does not apply."},
		query: `max(histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_queue_duration_seconds_bucket{@target}[$__rate_interval]))) >= 0)`,
		red:   o.Threshold,
	}
}

func worstRequests(t catalog.Targets) panel {
	o := t.Of(catalog.ClientErrors)
	return single{
		header: header{id: 23, title: "Failed requests", unit: "percentunit",
			about: "Share of the requests that the API server did not answer, answered with a server error or turned away, of the program that fails most. Normal is 0, also when nothing is asked for. The objective is " + o.Goal() + "."},
		query: `max(` + requestsFailing + `)`,
		red:   o.Threshold,
	}
}

func firing() panel {
	return alertList{
		header: header{id: 25, title: "What fires",
			about: "Alerts of these rules that fire, the most important first, of all clusters. None is normal. Each leads to its rule, and from there to its runbook. Nothing is listed if Grafana may not see the rules of its data sources."},
		names: informerAlerts + "|" + controllerAlerts + "|" + clusterAlerts,
	}
}
