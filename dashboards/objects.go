package dashboards

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// clusterObjects covers the objects that the exporter watches.
func clusterObjects() page {
	return page{
		uid:         ObjectsUID,
		title:       "Cluster / Objects",
		description: "Terminating objects and namespaces, and observed generation lag, from informer-exporter.",
		variables:   objectVariables,
		alerts:      clusterAlerts,
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, panels: []panel{terminatingNow, oldestTerminating, terminatingNamespacesNow, oldestNamespace, laggingNow, oldestLag}},
				{height: 8, panels: []panel{terminatingTable}},
				{height: 8, panels: []panel{generationTable}},
			}},
			{id: 200, title: "Terminating objects", lines: []line{
				{height: 9, panels: []panel{terminatingByFinalizer, terminatingOldest, terminatingNamespaces}},
			}},
			{id: 300, title: "Observed generation lag", lines: []line{
				{height: 9, panels: []panel{generationLag, oldestGenerationLag, generationTimes}},
			}},
		},
	}
}

// watchOfObjects are the labels that objects share with their informer in the exporter.
const watchOfObjects = "@cluster, @job, @instance, informer_type"

var laggingNow = singleStat{header: header{id: 5, title: "Observed generation lag", unit: "short",
	description: "Objects with status.observedGeneration < metadata.generation. Some are normal shortly after changes. No data: no watched resource has the field, or generations are disabled."},
	query: `sum(max by (@cluster, name, informer_type, namespace) (k8s_object_generation_lag{@object}))`,
}

var oldestLag = singleStat{header: header{id: 6, title: "Oldest generation lag", unit: age,
	description: "Time since the exporter first saw the oldest unobserved generation. Normally 0 or seconds. See the runbook of ClusterGenerationLag."},
	query: known("max", "k8s_object_generation_lag_oldest_seconds{@object}", watchOfObjects),
	goal:  &catalog.Objectives.GenerationLag,
}

var generationTable = labelTable{header: header{id: 8, title: "Observed generation lag by age", unit: "short", empty: normallyEmpty,
	description: "One row per resource and namespace. Normally empty, except shortly after changes. Red cells miss the objective."},
	labels: []column{{label: "cluster", title: "Cluster"}, {label: "informer_type", title: "Resource", link: &link{uid: ObjectsUID, title: "Only this resource and namespace", sets: []string{"cluster", "informer_type", "namespace"}}}, {label: "namespace", title: "Namespace"}},
	columns: []column{
		{title: "Oldest", unit: age, goal: &catalog.Objectives.GenerationLag, query: `max by (@cluster, informer_type, namespace) (k8s_object_generation_lag_oldest_seconds{@object})`},
		{title: "Objects", query: `sum by (@cluster, informer_type, namespace) (max by (@cluster, name, informer_type, namespace) (k8s_object_generation_lag{@object}))`},
	},
	sortBy: []string{"Oldest"}, positive: "Objects",
}

var generationLag = timeSeries{header: header{id: 30, title: "Observed generation lag by resource", unit: "short",
	description: "Objects with status.observedGeneration < metadata.generation, excluding terminating objects. Normally short peaks after changes. A sustained level means that the controller is down, has no leader, or fails for these objects."},
	queries: []query{{expr: `sum by (@cluster, informer_type) (max by (@cluster, name, informer_type, namespace) (k8s_object_generation_lag{@object}))`, legend: "{{@cluster}} {{informer_type}}"}},
}

var oldestGenerationLag = timeSeries{header: header{id: 31, title: "Oldest unobserved generation by resource", unit: age,
	description: "Time since the exporter first saw the oldest unobserved generation, by resource and namespace. Normally 0, with peaks of seconds. A restart of the exporter resets it."},
	queries: []query{{expr: `max by (@cluster, informer_type, namespace) (k8s_object_generation_lag_oldest_seconds{@object})`, legend: legendResource}},
	goal:    &catalog.Objectives.GenerationLag,
}

var generationTimes = timeSeries{header: header{id: 33, title: "Time to observed generation p99", unit: "s",
	description: "99th percentile of the time from a generation to its observedGeneration, as seen by the exporter, over all namespaces. Normally below a second. A rise means that the controller is slow or its queue is long. No data without changes, or with detail: essential."},
	queries: []query{{expr: `histogram_quantile(0.99, sum by (@le, @cluster, informer_type) (rate(k8s_object_generation_observed_seconds@bucket{@target, informer_type=~"$informer_type"}[$__rate_interval])))`, legend: "{{@cluster}} {{informer_type}}"}},
	goal:    &catalog.Objectives.GenerationLag,
}

var droppedSeries = timeSeries{header: header{id: 32, title: "Dropped series by signal", unit: "short",
	description: "Leases and objects above the series limit, for the exporter with the most. Normally none. Such objects are reported as other, such Leases only in k8s_lease_objects."},
	stacked: true, queries: []query{{expr: `max by (@cluster, signal) (` + prom.Occurred(`k8s_object_overflow_total{@target}`, `$__rate_interval`) + `)`, legend: "{{@cluster}} {{signal}}"}},
}
