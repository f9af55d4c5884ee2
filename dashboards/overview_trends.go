package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// Error rates are 0 when idle, and have no series without a decorated reconciler or client.
const (
	reconcileErrors = `sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program, result=~"error|terminal|panic"}[$__rate_interval])) / clamp_min(sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program}[$__rate_interval])), 1e-9)`
	requestErrors   = `(sum by (@cluster, name) (rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[$__rate_interval])) or 0 * sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval]))) / clamp_min(sum by (@cluster, name) (rate(k8s_client_requests_total{@program}[$__rate_interval])), 1e-9)`
)

var lagByProgram = timeSeries{header: header{id: 40, title: "Sync lag by program", unit: age,
	description: "How far the worst informer in each program is behind the API server. Normally 0. If all programs rise together, check the API server and the network."},
	queries: []query{{expr: `max by (@cluster, name) (k8s_informer_sync_lag_seconds{@program})`, legend: legendProgram}},
	goal:    &catalog.Objectives.SyncLag, top: true,
}

var disconnectsByProgram = timeSeries{header: header{id: 41, title: "Watch disconnects per minute by program", unit: "short",
	description: "Watch disconnects per minute, for the worst informer in each program, excluding planned timeouts. Normally 0. The same peak in all programs: the API server or a load balancer restarted."},
	queries: []query{{expr: perMinute(disconnects("@program"), programLabels), legend: legendProgram}},
	goal:    &catalog.Objectives.WatchDisconnects, top: true,
}

func lateEventsByProgram(t catalog.Targets) panel {
	o := t.Of(catalog.Objectives.EventLag)
	return timeSeries{header: header{id: 42, title: "Late events by program", unit: "percentunit",
		description: "Share of events handled more than " + o.Amount() + " after they were received. Normally 0. If it rises, look for a slow handler in the program's informers."},
		queries: []query{{expr: shareAbove("k8s_informer_event_lag_seconds", "@program", "@cluster, name", o), legend: legendProgram}},
		goal:    budget(o), top: true,
	}
}

func worstInformers() panel {
	const by = `max by (@cluster, name, informer_type, watch_namespace)`
	return labelTable{header: header{id: 27, title: "Informers by sync lag", unit: "short",
		description: "The ten informers with the highest sync lag, one row per watched resource of a program, for its worst process. Normally 0. Click a resource for details."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"},
			{label: "informer_type", title: "Resource", link: &link{uid: DetailUID, title: "Details of the informer", sets: []string{"cluster", "name", "informer_type", "watch_namespace"}}},
			{label: "watch_namespace", title: "Namespace", narrow: true}, // the scope of the informer, mostly *
		},
		columns: []column{
			{title: "Sync lag", unit: age, goal: &catalog.Objectives.SyncLag, query: `topk(10, ` + by + ` (k8s_informer_sync_lag_seconds{@program}))`},
			{title: "Objects", query: by + ` (k8s_informer_objects{@program})`},
		},
		sortBy: []string{"Sync lag", "Objects"}, rows: "Sync lag",
	}
}

var worstControllers = labelTable{header: header{id: 28, title: "Controllers by reconcile error rate", unit: "short",
	description: "One row per controller with the library, over all processes. The error rate is the share of reconciles that end in an error or a panic; normally near 0, and 0 when idle. Click a controller for its queue and reconciles."},
	labels: []column{
		{label: "cluster", title: "Cluster"}, {label: "name", title: "Program"},
		{label: "controller", title: "Controller", link: &link{uid: ControllersUID, title: "Queue and reconciles", sets: []string{"cluster", "controller"}}},
	},
	columns: []column{
		{title: "Error rate", unit: "percentunit", goal: &catalog.Objectives.ReconcileErrors, query: `topk(10, ` + reconcileErrors + `)`},
		{title: "Reconciles/min", query: `60 * sum by (@cluster, name, controller) (rate(controller_reconcile_total{@program}[$__rate_interval]))`},
	},
	sortBy: []string{"Error rate", "Reconciles/min"}, rows: "Error rate",
}

var reconcileErrorsByProgram = timeSeries{header: header{id: 43, title: "Reconcile error rate by program", unit: "percentunit",
	description: "Share of reconciles that end in an error or a panic, for the worst controller of each program. Normally near 0."},
	queries: []query{{expr: `max by (@cluster, name) (` + reconcileErrors + `)`, legend: legendProgram}},
	goal:    &catalog.Objectives.ReconcileErrors, top: true,
}

func slowItemsByJob(t catalog.Targets) panel {
	o := t.Of(catalog.Objectives.QueueWait)
	return timeSeries{header: header{id: 44, title: "Slow queue items by job", unit: "percentunit",
		description: "Share of items that spend more than " + o.Amount() + " in a queue, for the slowest queue of each job, from client-go's metrics, with or without the library. Normally 0. The program variable does not apply."},
		queries: []query{{expr: `max by (@cluster, @job) (` + shareAbove("workqueue_queue_duration_seconds", "@target", "@cluster, @job, name", o) + `)`, legend: "{{@job}}"}},
		goal:    budget(o), top: true,
	}
}

var queueDepthByJob = timeSeries{header: header{id: 49, title: "Queue depth by job", unit: "short",
	description: "Queue depth, for the longest queue in each job, from client-go's metrics. Normally near 0, with peaks at startup and mass changes. A steady rise means hanging workers, or a standby replica that fills its queue, which is harmless."},
	queries: []query{{expr: `max by (@cluster, @job) (sum by (@cluster, @job, @instance, name) (workqueue_depth{@target}))`, legend: "{{@job}}"}},
	goal:    &catalog.Objectives.QueueDepth, top: true,
}

var leaseTransitionsByNamespace = timeSeries{header: header{id: 45, title: "Lease transitions in 15 minutes", unit: "short",
	description: "Lease transitions over the previous 15 minutes, for the Lease with the most in each namespace, of any program. Normally 0, one or two during a rollout. No data without the exporter."},
	queries: []query{{expr: `max by (@cluster, lease_namespace) (increase(k8s_lease_transitions_total{@target}[@lease_changes]))`, legend: "{{lease_namespace}}"}},
	goal:    &catalog.Objectives.LeaseChanges, top: true,
}

var requestErrorsByProgram = timeSeries{header: header{id: 46, title: "Request error rate by program", unit: "percentunit",
	description: "Share of API server requests that get no response, a 5xx or a 429. Normally 0. If all programs rise together, check the API server."},
	queries: []query{{expr: requestErrors, legend: legendProgram}},
	goal:    &catalog.Objectives.ClientErrors, top: true,
}

var objectsByProgram = timeSeries{header: header{id: 47, title: "Cached objects by program", unit: "short",
	description: "Objects in all caches of a process, for the largest process of each program. Memory grows with this number. A drop to 0 is an emptied cache; a steady rise means that objects are not cleaned up."},
	top: true, queries: []query{{expr: `max by (@cluster, name) (sum by (@cluster, name, @instance) (k8s_informer_objects{@program}))`, legend: legendProgram}},
}

var oldestTerminatingByResource = timeSeries{header: header{id: 48, title: "Oldest terminating object by resource", unit: age,
	description: "Time that the oldest terminating object of each resource has been waiting for its removal. Normally 0, with peaks of seconds. No data without the exporter. The objects dashboard shows the finalizers."},
	queries: []query{{expr: `max by (@cluster, informer_type) (k8s_object_terminating_oldest_seconds{@target})`, legend: "{{informer_type}}"}},
	goal:    &catalog.Objectives.ObjectHeld, top: true,
}
