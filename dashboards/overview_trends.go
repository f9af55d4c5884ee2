package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func lagByProgram(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 40, title: "Sync lag by program", unit: "s",
			description: "How far the worst informer of each program is behind the API server. Normally 0. All programs at once: check the API server and the network."},
		queries: []query{{expr: `max by (@cluster, name) (k8s_informer_sync_lag_seconds{@program})`, legend: legendProgram}},
		goal:    new(t.Of(catalog.Objectives.SyncLag)),
	}
}

func disconnectsByProgram(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 41, title: "Watch disconnects by program", unit: "cpm",
			description: "Watch disconnects per minute of the worst informer of each program, excluding planned timeouts. Normally 0. The same peak in all programs: the API server or a load balancer restarted."},
		queries: []query{{expr: `60 * max by (@cluster, name) (sum without (reason) (rate(k8s_informer_watch_disconnects_total{@program}[$__rate_interval])))`, legend: legendProgram}},
		goal:    new(t.Of(catalog.Objectives.WatchDisconnects)),
	}
}

func eventLagByProgram(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 42, title: "Event lag p99 by program", unit: "s",
			description: "99th percentile of the time from receiving an event to the handler's return. Normally milliseconds. If it rises, look for a slow handler in the program's informers."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_informer_event_lag_seconds_bucket{@program}[$__rate_interval])))`, legend: legendProgram, traced: true}},
		goal:    new(t.Of(catalog.Objectives.EventLag)),
	}
}

func reconcileErrorsByProgram(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 43, title: "Reconcile error rate by program", unit: "percentunit",
			description: "Share of reconciles that end in an error or a panic, for the worst controller of each program. Normally near 0."},
		queries: []query{{expr: `max by (@cluster, name) (` + reconcileErrors + `)`, legend: legendProgram}},
		goal:    new(t.Of(catalog.Objectives.ReconcileErrors)),
	}
}

func queueLatencyByJob(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 44, title: "Queue latency p99 by job", unit: "s",
			description: "99th percentile of the time items spend in the slowest queue of each job, from client-go's metrics, with or without the library. Normally milliseconds; no line without items. The program variable does not apply."},
		queries: []query{{expr: `max by (@cluster, @job) (histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_queue_duration_seconds_bucket{@target}[$__rate_interval]))) >= 0)`, legend: "{{@cluster}} {{@job}}"}},
		goal:    new(t.Of(catalog.Objectives.QueueWait)),
	}
}

func queueDepthByJob(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 49, title: "Queue depth by job", unit: "short",
			description: "Depth of the longest queue of each job, from client-go's metrics. Normally near 0, with peaks at startup and mass changes. A steady rise means hanging workers, or a standby replica that fills its queue, which is harmless."},
		queries: []query{{expr: `max by (@cluster, @job) (workqueue_depth{@target})`, legend: "{{@cluster}} {{@job}}"}},
		goal:    new(t.Of(catalog.Objectives.QueueDepth)),
	}
}

func leaseTransitionsByNamespace(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 45, title: "Lease transitions in 15 minutes", unit: "short",
			description: "Holder changes over the previous 15 minutes, for the Lease with the most changes in each namespace, of any program. Normally 0, one or two during a rollout. No line without the exporter."},
		queries: []query{{expr: `max by (@cluster, lease_namespace) (increase(k8s_lease_transitions_total{@target}[@lease_changes]))`, legend: "{{@cluster}} {{lease_namespace}}"}},
		goal:    new(t.Of(catalog.Objectives.LeaseChanges)),
	}
}

func requestErrorsByProgram(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 46, title: "Request error rate by program", unit: "percentunit",
			description: "Share of API server requests that get no response, a 5xx or a 429. Normally 0. All programs at once: check the API server."},
		queries: []query{{expr: requestErrors, legend: legendProgram}},
		goal:    new(t.Of(catalog.Objectives.ClientErrors)),
	}
}

func objectsByProgram() panel {
	return timeSeries{
		header: header{id: 47, title: "Cached objects by program", unit: "short",
			description: "Objects in all caches of a process, for the largest process of each program. Memory follows this number. A drop to 0 is an emptied cache; a steady rise means that objects are not cleaned up."},
		queries: []query{{expr: `max by (@cluster, name) (sum by (@cluster, name, @instance) (k8s_informer_objects{@program}))`, legend: legendProgram}},
	}
}

func oldestTerminatingByResource(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 48, title: "Oldest terminating object by resource", unit: "s",
			description: "Time that the oldest terminating object of each resource has been waiting for its removal. Normally 0, with peaks of seconds. No line without the exporter. The objects dashboard shows the finalizers."},
		queries: []query{{expr: `max by (@cluster, informer_type) (k8s_object_terminating_oldest_seconds{@target})`, legend: "{{@cluster}} {{informer_type}}"}},
		goal:    new(t.Of(catalog.Objectives.ObjectHeld)),
	}
}
