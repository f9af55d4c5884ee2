package dashboards

func transforms() panel {
	return timeSeries{
		header: header{id: 85, title: "Transform functions", unit: "short",
			about: "Objects that a Transform function dropped for all users of an informer, and functions that replaced another one. Normal is none of both. The log says where two functions were set."},
		queries: []query{
			{expr: `sum by (@cluster, name, informer_type, cause) (increase(k8s_informer_transform_drops_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{informer_type}} dropped: {{cause}}"},
			{expr: `sum by (@cluster, name, informer_type) (increase(k8s_informer_transform_conflicts_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{informer_type}} replaced"},
		},
		stacked: true,
	}
}

func superfluous() panel {
	return timeSeries{
		header: header{id: 86, title: "Informers too many", unit: "short",
			about: "Duplicates watch what another informer of the process watches, orphans still run after their context has ended. Normal is none. A duplicate costs memory and a watch, unless its selector differs; an orphan hangs in a handler."},
		queries: []query{
			{expr: `sum by (@cluster, name, informer_type, watch_namespace) (k8s_informer_duplicates{@informer})`, legend: legendInformer + " duplicate"},
			{expr: `sum by (@cluster, name, informer_type, watch_namespace) (k8s_informer_orphans{@informer})`, legend: legendInformer + " orphan"},
		},
	}
}
