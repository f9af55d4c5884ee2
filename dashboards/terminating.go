package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

var terminatingNow = singleStat{header: header{id: 1, title: "Terminating objects", unit: "short",
	description: "Deleted objects that still exist, counted once per finalizer. A few are normal for a short time: Pods in their grace period, running cleanups. The table below shows the resources."},
	query: `sum(max by (@cluster, name, informer_type, namespace, finalizer) (k8s_object_terminating{@object}))`,
}

var oldestTerminating = singleStat{header: header{id: 2, title: "Oldest object", unit: age,
	description: "Time that the oldest terminating object has been waiting for its removal. Normally 0 or seconds. See the runbook of ClusterObjectHeld."},
	query: known("max", "k8s_object_terminating_oldest_seconds{@object}", watchOfObjects),
	goal:  &catalog.Objectives.ObjectHeld,
}

var terminatingNamespacesNow = singleStat{header: header{id: 3, title: "Terminating namespaces", unit: "short",
	description: "Deleted Namespaces that still exist. Normally 0; a few for a short time. The resource variable does not apply."},
	query: `sum(max by (@cluster, name, namespace) (k8s_object_terminating{@target, informer_type="namespaces", namespace=~"$namespace"}))`,
}

var oldestNamespace = singleStat{header: header{id: 4, title: "Oldest namespace", unit: age,
	description: "Time since the deletion of the Namespace that has been Terminating longest. Normally 0 or seconds. See the runbook of ClusterNamespaceStuck."},
	query: known("max", `k8s_object_terminating_oldest_seconds{@target, informer_type="namespaces", namespace=~"$namespace"}`, watchOfObjects),
	goal:  &catalog.Objectives.NamespaceStuck,
}

var terminatingTable = labelTable{header: header{id: 7, title: "Terminating objects by age", unit: "short", empty: normallyEmpty,
	description: "One row per resource, namespace and finalizer. Normally empty, with rows for a short time. Namespaces appear under their own name and without finalizer, because their finalizers are in the spec. Red cells miss the objective."},
	labels: []column{{label: "cluster", title: "Cluster"}, {label: "informer_type", title: "Resource", link: &link{uid: ObjectsUID, title: "Only this resource and namespace", sets: []string{"cluster", "informer_type", "namespace"}}}, {label: "namespace", title: "Namespace"}, {label: "finalizer", title: "Finalizer"}},
	columns: []column{
		{title: "Oldest", unit: age, goal: &catalog.Objectives.ObjectHeld, query: `max by (@cluster, informer_type, namespace, finalizer) (k8s_object_terminating_oldest_seconds{@object})`},
		{title: "Objects", query: `sum by (@cluster, informer_type, namespace, finalizer) (max by (@cluster, name, informer_type, namespace, finalizer) (k8s_object_terminating{@object}))`},
	},
	sortBy: []string{"Oldest"}, positive: "Objects",
}

var terminatingByFinalizer = timeSeries{header: header{id: 20, title: "Terminating objects by finalizer", unit: "short",
	description: "Terminating objects by resource and blocking finalizer. Normally short-lived lines. A steady rise means that the finalizer is not removed: check that its controller runs."},
	queries: []query{{expr: `sum by (@cluster, informer_type, finalizer) (max by (@cluster, name, informer_type, namespace, finalizer) (k8s_object_terminating{@object}))`, legend: legendTerminating}},
}

var terminatingOldest = timeSeries{header: header{id: 21, title: "Oldest terminating object by finalizer", unit: age,
	description: "Time that the oldest object has been waiting for its removal; for Pods, since the end of the grace period. Normally 0, with peaks of seconds. A rise of one second per second is a blocked deletion."},
	queries: []query{{expr: `max by (@cluster, informer_type, finalizer) (k8s_object_terminating_oldest_seconds{@object})`, legend: legendTerminating}},
	goal:    &catalog.Objectives.ObjectHeld,
}

var terminatingNamespaces = timeSeries{header: header{id: 22, title: "Terminating namespaces by age", unit: age,
	description: "Time since the deletion of each Namespace that still exists; * means none. Normally seconds. Otherwise a finalizer blocks an object in it, or an aggregated API does not respond: see the runbook of ClusterNamespaceStuck."},
	queries: []query{{expr: `max by (@cluster, namespace) (k8s_object_terminating_oldest_seconds{@target, informer_type="namespaces", namespace=~"$namespace"})`, legend: "{{@cluster}} {{namespace}}"}},
	goal:    &catalog.Objectives.NamespaceStuck,
}
