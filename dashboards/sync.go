package dashboards

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

func lastSync(t catalog.Targets) panel {
	return timeSeries{header: header{id: 40, title: "Last sync duration", unit: "s",
		description: "Duration of each informer's last initial sync or relist. Normally a second or two for thousands of objects. Failed attempts count: compare with the errors."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_last_sync_duration_seconds{@informer})`, legend: legendInformer}},
		top:     true, goal: new(t.Of(catalog.Objectives.SyncDuration)),
	}
}

func relists() panel {
	return timeSeries{header: header{id: 41, title: "Relists by reason", unit: "short",
		description: "Completed lists and streaming lists. Normally one initial sync per informer at startup, then none. expired and watch_failed are expensive for the API server: see the watch disconnects."},
		stacked: true, queries: []query{{expr: occurrences(`k8s_informer_relists_total{@informer}`, `@cluster, name, reason`), legend: "{{@cluster}} {{name}} {{reason}}"}},
	}
}

func syncErrors() panel {
	return timeSeries{header: header{id: 42, title: "List and watch errors by type", unit: "short",
		description: "Errors of lists and watches, including those that client-go retries silently. Normally none. forbidden, unauthorized: permissions and tokens. refused, timeout, server: API server or network. throttled: API priority and fairness."},
		stacked: true, queries: []query{{expr: occurrences(`k8s_informer_sync_errors_total{@informer}`, `@cluster, name, error_type`), legend: "{{@cluster}} {{name}} {{error_type}}"}},
	}
}

func slowSyncs() panel {
	o := catalog.Objectives.SyncDuration // a bound of the histogram, unlike other thresholds
	return timeSeries{header: header{id: 45, title: "Slow syncs by result", unit: "short",
		description: "Initial syncs and relists that took more than " + o.Amount() + ", and failed attempts at them (error). Normally none. The list durations show whether the API server or the number of objects is the cause."},
		stacked: true, queries: []query{{expr: countAbove("k8s_informer_sync_duration_seconds", "@informer", o.Threshold, "@cluster, name, result"), legend: "{{@cluster}} {{name}} {{result}}"}},
	}
}

func listTable() panel {
	return labelTable{header: header{id: 44, title: "Lists in the selected time", unit: "short",
		description: "One row per informer with complete lists, over all processes. Durations include client-side throttling. Normally one list per process at its start. Streaming lists, the default, have no pages. Before Kubernetes 1.34, lists in pages are read from etcd instead of the API server's cache."},
		labels: informerColumns(),
		columns: []column{
			{title: "Lists", query: sumOf(`k8s_informer_relists_total{@informer}`, `$__range`, informerLabels)},
			{title: "Mean duration", unit: "s", query: `sum by (` + informerLabels + `) (rate(k8s_informer_list_duration_seconds_sum{@informer}[$__range])) / (sum by (` + informerLabels + `) (rate(k8s_informer_list_duration_seconds_count{@informer}[$__range])) > 0)`},
			{title: "Objects per list", query: `sum by (` + informerLabels + `) (rate(k8s_informer_list_items_sum{@informer}[$__range])) / (sum by (` + informerLabels + `) (rate(k8s_informer_list_items_count{@informer}[$__range])) > 0)`},
			{title: "Pages", query: sumOf(`k8s_informer_list_pages_total{@informer}`, `$__range`, informerLabels)},
		},
		sortBy: []string{"Lists", "Objects per list"},
	}
}
