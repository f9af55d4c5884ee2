package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

const legendResource = "{{@cluster}} {{informer_type}} {{namespace}}"

func behindNow() panel {
	return single{
		header: header{id: 5, title: "Behind their spec", unit: "short",
			about: "Objects with a change of their spec that their controller has not dealt with, by status.observedGeneration. For moments after changes some are normal. No data: the exporter follows no resource that has the field, or not its generations."},
		query: `sum(max by (@cluster, name, informer_type, namespace) (k8s_object_generation_lag{@object}))`,
	}
}

func oldestBehind(t catalog.Targets) panel {
	o := t.Of(catalog.GenerationLag)
	return single{
		header: header{id: 6, title: "Oldest change", unit: "s",
			about: "How long the exporter has seen the oldest change of a spec wait for its controller. Normal is 0, or seconds. The objective is " + o.Goal() + ": follow the runbook of ClusterGenerationLag."},
		query: `max(k8s_object_generation_lag_oldest_seconds{@object})`,
		red:   o.Threshold,
	}
}

func everyLag(t catalog.Targets) panel {
	o := t.Of(catalog.GenerationLag)
	return grid{
		header: header{id: 8, title: "Behind their spec, the oldest first", unit: "short", empty: noneHere,
			about: "One row for each resource and namespace. No row is normal, and rows for moments after changes. Red cells miss the objective."},
		labels: []column{
			{label: "cluster", title: "Cluster"}, {label: "informer_type", title: "Resource"}, {label: "namespace", title: "Namespace"},
		},
		columns: []column{
			{title: "Oldest", unit: "s", bad: true, red: o.Threshold, query: `max by (@cluster, informer_type, namespace) (k8s_object_generation_lag_oldest_seconds{@object})`},
			{title: "Objects", query: `sum by (@cluster, informer_type, namespace) (max by (@cluster, name, informer_type, namespace) (k8s_object_generation_lag{@object}))`},
		},
		sortBy: "Oldest", above: "Objects",
	}
}

func behindByResource() panel {
	return timeSeries{
		header: header{id: 30, title: "Behind their spec", unit: "short",
			about: "Objects whose controller has not dealt with the last change of their spec, by resource. Peaks after changes are normal. A level that stays is a controller that does not run, has no leader, or fails for these objects."},
		queries: []query{{expr: `sum by (@cluster, informer_type) (max by (@cluster, name, informer_type, namespace) (k8s_object_generation_lag{@object}))`, legend: "{{@cluster}} {{informer_type}}"}},
	}
}

func behindOldest(t catalog.Targets) panel {
	o := t.Of(catalog.GenerationLag)
	return timeSeries{
		header: header{id: 31, title: "Oldest change that is not dealt with", unit: "s",
			about: "How long the exporter has seen the oldest change wait, by resource and namespace. 0 is normal, and peaks of seconds. It begins anew when the exporter is restarted."},
		queries: []query{{expr: `max by (@cluster, informer_type, namespace) (k8s_object_generation_lag_oldest_seconds{@object})`, legend: legendResource}},
		goal:    &o,
	}
}

func withoutRoom() panel {
	return timeSeries{
		header: header{id: 32, title: "Without a series of their own", unit: "short",
			about: "Leases and objects that had no room for a series of their own when they appeared, by signal, of the exporter that has least room. Normal is none. They are reported together as other, Leases only by their number."},
		queries: []query{{expr: `max by (@cluster, signal) (increase(k8s_object_overflow_total{@target}[$__rate_interval]))`, legend: "{{@cluster}} {{signal}}"}},
		stacked: true,
	}
}
