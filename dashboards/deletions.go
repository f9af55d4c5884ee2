package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

const legendFinalizers = "{{@cluster}} {{informer_type}} {{finalizer}}"

func terminatingNow() panel {
	return single{
		header: header{id: 1, title: "In deletion", unit: "short",
			about: "Objects that have been deleted and are still there; one with several finalizers counts for each of them. A few for a short time are normal: Pods in their grace period, clean-ups that go on. The table below tells which resources they are."},
		query: `sum(max by (@cluster, name, informer_type, namespace, finalizer) (k8s_object_terminating{@object}))`,
	}
}

func oldestTerminating(t catalog.Targets) panel {
	o := t.Of(catalog.ObjectHeld)
	return single{
		header: header{id: 2, title: "Oldest deletion", unit: "s",
			about: "Since the object that has waited longest for its end should have been gone. Normal is 0, or seconds. The objective is " + o.Goal() + ": follow the runbook of ClusterObjectHeld."},
		query: `max(k8s_object_terminating_oldest_seconds{@object})`,
		red:   o.Threshold,
	}
}

func namespacesTerminating() panel {
	return single{
		header: header{id: 3, title: "Namespaces Terminating", unit: "short",
			about: "Namespaces that have been deleted and are still there. Normal is 0, and for a short time a few. The variable for the resource does not apply."},
		query: `sum(max by (@cluster, name, namespace) (k8s_object_terminating{@target, informer_type="namespaces", namespace=~"$namespace"}))`,
	}
}

func oldestNamespace(t catalog.Targets) panel {
	o := t.Of(catalog.NamespaceStuck)
	return single{
		header: header{id: 4, title: "Oldest Namespace", unit: "s",
			about: "Since the Namespace was deleted that has been Terminating longest. Normal is 0, or seconds. The objective is " + o.Goal() + ": follow the runbook of ClusterNamespaceStuck."},
		query: `max(k8s_object_terminating_oldest_seconds{@target, informer_type="namespaces", namespace=~"$namespace"})`,
		red:   o.Threshold,
	}
}

func everyDeletion(t catalog.Targets) panel {
	held := t.Of(catalog.ObjectHeld)
	return grid{
		header: header{id: 7, title: "In deletion, the oldest first", unit: "short", empty: noneHere,
			about: "One row for each resource, namespace and finalizer. Namespaces have their own name for a namespace, and the finalizer none, because theirs are in their spec. No row is normal, and rows that come and go. Red cells miss the objective."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "informer_type", title: "Resource"}, {label: "namespace", title: "Namespace"}, {label: "finalizer", title: "Finalizer"},
		},
		columns: []column{
			{title: "Oldest", unit: "s", bad: true, red: held.Threshold, query: `max by (@cluster, informer_type, namespace, finalizer) (k8s_object_terminating_oldest_seconds{@object})`},
			{title: "Objects", query: `sum by (@cluster, informer_type, namespace, finalizer) (max by (@cluster, name, informer_type, namespace, finalizer) (k8s_object_terminating{@object}))`},
		},
		sortBy: "Oldest", above: "Objects",
	}
}

func terminatingByFinalizer() panel {
	return timeSeries{
		header: header{id: 20, title: "In deletion", unit: "short",
			about: "Objects in deletion by resource and by the finalizer that they wait for. Lines that come and go are normal. One that only rises belongs to a finalizer that nobody removes: does the controller run whose name it has?"},
		queries: []query{{expr: `sum by (@cluster, informer_type, finalizer) (max by (@cluster, name, informer_type, namespace, finalizer) (k8s_object_terminating{@object}))`, legend: legendFinalizers}},
	}
}

func terminatingOldest(t catalog.Targets) panel {
	o := t.Of(catalog.ObjectHeld)
	return timeSeries{
		header: header{id: 21, title: "Oldest in deletion", unit: "s",
			about: "How long the oldest object has waited for its end, by resource and finalizer; for a Pod since the end of its grace period. 0 is normal, and peaks of seconds. A line that rises by a second each second is an object that nobody lets go."},
		queries: []query{{expr: `max by (@cluster, informer_type, finalizer) (k8s_object_terminating_oldest_seconds{@object})`, legend: legendFinalizers}},
		goal:    &o,
	}
}

func terminatingNamespaces(t catalog.Targets) panel {
	o := t.Of(catalog.NamespaceStuck)
	return timeSeries{
		header: header{id: 22, title: "Namespaces Terminating, for how long", unit: "s",
			about: "Since each Namespace was deleted that is still there; * is where there is none. Seconds are normal. Otherwise something in it is held in deletion, or an aggregated API does not answer: follow the runbook of ClusterNamespaceStuck."},
		queries: []query{{expr: `max by (@cluster, namespace) (k8s_object_terminating_oldest_seconds{@target, informer_type="namespaces", namespace=~"$namespace"})`, legend: "{{@cluster}} {{namespace}}"}},
		goal:    &o,
	}
}
