package dashboards

func transforms() panel {
	return timeSeries{
		header: header{id: 85, title: "Transform drops and conflicts", unit: "short",
			description: "Objects that a Transform function dropped for all consumers of an informer, and Transform functions that replaced another. Normally none. The log shows where both were set."},
		queries: []query{
			{expr: `sum by (@cluster, name, informer_type, cause) (increase(k8s_informer_transform_drops_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{informer_type}} dropped: {{cause}}"},
			{expr: `sum by (@cluster, name, informer_type) (increase(k8s_informer_transform_conflicts_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{informer_type}} replaced"},
		},
		stacked: true,
	}
}

func duplicatesAndOrphans() panel {
	return timeSeries{
		header: header{id: 86, title: "Duplicate and orphaned informers", unit: "short",
			description: "Duplicates watch the same resource as another informer of the process; orphans still run after their context ended. Normally none. A duplicate costs memory and a watch, unless its selector differs. An orphan hangs in a handler."},
		queries: []query{
			{expr: `sum by (@cluster, name, informer_type, watch_namespace) (k8s_informer_duplicates{@informer})`, legend: legendInformer + " duplicate"},
			{expr: `sum by (@cluster, name, informer_type, watch_namespace) (k8s_informer_orphans{@informer})`, legend: legendInformer + " orphan"},
		},
	}
}
