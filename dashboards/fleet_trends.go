package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

const legendProgram = "{{@cluster}} {{name}}"

func lagByProgram(t catalog.Targets) panel {
	o := t.Of(catalog.SyncLag)
	return timeSeries{
		header: header{id: 40, title: "Sync lag of the worst informer", unit: "s",
			about: "How far the informer of each program that is furthest behind trails the API server. Normal is 0. All programs at once point at the API server or the network."},
		queries: []query{{expr: `max by (@cluster, name) (k8s_informer_sync_lag_seconds{@program})`, legend: legendProgram}},
		goal:    &o,
	}
}

func disconnectsByProgram(t catalog.Targets) panel {
	o := t.Of(catalog.WatchDisconnects)
	return timeSeries{
		header: header{id: 41, title: "Disconnects of the worst informer", unit: "cpm",
			about: "Watches that the worst informer of each program loses in a minute, planned ends left out. Normal is 0. The same peak in all programs is a restart of the API server or of what is in front of it."},
		queries: []query{{expr: `60 * max by (@cluster, name) (sum without (reason) (rate(k8s_informer_watch_disconnects_total{@program}[$__rate_interval])))`, legend: legendProgram}},
		goal:    &o,
	}
}

func eventLagByProgram(t catalog.Targets) panel {
	o := t.Of(catalog.EventLag)
	return timeSeries{
		header: header{id: 42, title: "Event lag of all events, p99", unit: "s",
			about: "From the receipt of events to the return of handlers, 99th percentile of all events of a program. Milliseconds are normal. A rise is a slow handler: see the details of the program's informers."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_informer_event_lag_seconds_bucket{@program}[$__rate_interval])))`, legend: legendProgram, traced: true}},
		goal:    &o,
	}
}

func failingByProgram(t catalog.Targets) panel {
	o := t.Of(catalog.ReconcileErrors)
	return timeSeries{
		header: header{id: 43, title: "Reconciles that fail", unit: "percentunit",
			about: "Share of the reconciles that end in an error or a panic, of the controller of each program that fails most. Near 0 is normal."},
		queries: []query{{expr: `max by (@cluster, name) (` + reconcilesFailing + `)`, legend: legendProgram}},
		goal:    &o,
	}
}

func waitByJob(t catalog.Targets) panel {
	o := t.Of(catalog.QueueWait)
	return timeSeries{
		header: header{id: 44, title: "Wait in queues, p99", unit: "s",
			about: "How long items wait in the slowest queue of each job, 99th percentile, by client-go's own metrics, with the library and without. Milliseconds are normal, and no line where nothing is taken. The variable for the program does not apply."},
		queries: []query{{expr: `max by (@cluster, @job) (histogram_quantile(0.99, sum by (le, @cluster, @job, name) (rate(workqueue_queue_duration_seconds_bucket{@target}[$__rate_interval]))) >= 0)`, legend: "{{@cluster}} {{@job}}"}},
		goal:    &o,
	}
}

func depthByJob(t catalog.Targets) panel {
	o := t.Of(catalog.QueueDepth)
	return timeSeries{
		header: header{id: 49, title: "Items that wait", unit: "short",
			about: "Items in the deepest queue of each job, by client-go's own metrics. Near 0 is normal, with peaks at starts and mass changes. One that only rises is workers that hang, or a replica that fills its queue before it leads, which does no harm."},
		queries: []query{{expr: `max by (@cluster, @job) (workqueue_depth{@target})`, legend: "{{@cluster}} {{@job}}"}},
		goal:    &o,
	}
}

func changesByLock(t catalog.Targets) panel {
	o := t.Of(catalog.LeaseChanges)
	return timeSeries{
		header: header{id: 45, title: "Changes of leaders in 15 minutes", unit: "short",
			about: "Times that the Leases of each namespace have changed hands in the quarter of an hour before, of the one that changed most, of any program. Normal is 0, and one or two in a roll-out. No line without the exporter."},
		queries: []query{{expr: `max by (@cluster, lease_namespace) (increase(k8s_lease_transitions_total{@target}[@lease_changes]))`, legend: "{{@cluster}} {{lease_namespace}}"}},
		goal:    &o,
	}
}

func failedRequestsByProgram(t catalog.Targets) panel {
	o := t.Of(catalog.ClientErrors)
	return timeSeries{
		header: header{id: 46, title: "Requests that fail", unit: "percentunit",
			about: "Share of the requests of each program that the API server did not answer, answered with a server error or turned away. Normal is 0. All programs at once point at the API server."},
		queries: []query{{expr: requestsFailing, legend: legendProgram}},
		goal:    &o,
	}
}

func objectsByProgram() panel {
	return timeSeries{
		header: header{id: 47, title: "Objects in caches", unit: "short",
			about: "Objects that a process of each program holds, all resources together, of the process that holds most. Memory follows this number. A fall to 0 is a cache that was emptied, a rise without end something that nobody cleans up."},
		queries: []query{{expr: `max by (@cluster, name) (sum by (@cluster, name, @instance) (k8s_informer_objects{@program}))`, legend: legendProgram}},
	}
}

func oldestHeld(t catalog.Targets) panel {
	o := t.Of(catalog.ObjectHeld)
	return timeSeries{
		header: header{id: 48, title: "Oldest object in deletion", unit: "s",
			about: "How long the object of each resource has waited for its end that has waited longest. 0 is normal, and peaks of seconds. No line without the exporter. The dashboard of objects names the finalizers."},
		queries: []query{{expr: `max by (@cluster, informer_type) (k8s_object_terminating_oldest_seconds{@target})`, legend: "{{@cluster}} {{informer_type}}"}},
		goal:    &o,
	}
}
