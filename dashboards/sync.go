package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func lastSync(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 40, title: "Last sync duration", unit: "s",
			description: "Duration of each informer's last initial sync or relist. Normally a second or two for thousands of objects. Failed attempts count: compare with the errors."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_last_sync_duration_seconds{@informer})`, legend: legendInformer}},
		goal:    new(t.Of(catalog.Objectives.SyncDuration)),
	}
}

func relists() panel {
	return timeSeries{
		header: header{id: 41, title: "Relists by reason", unit: "short",
			description: "Completed lists and streaming lists. Normally one initial sync per informer at startup, then none. expired and watch_failed are expensive for the API server: see the watch disconnects."},
		queries: []query{{expr: `sum by (@cluster, name, reason) (increase(k8s_informer_relists_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{reason}}"}},
		stacked: true,
	}
}

func syncErrors() panel {
	return timeSeries{
		header: header{id: 42, title: "List and watch errors by type", unit: "short",
			description: "Errors of lists and watches, including those that client-go retries silently. Normally none. forbidden, unauthorized: permissions and tokens. refused, timeout, server: API server or network. throttled: API priority and fairness."},
		queries: []query{{expr: `sum by (@cluster, name, error_type) (increase(k8s_informer_sync_errors_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{error_type}}"}},
		stacked: true,
	}
}

func syncDuration(t catalog.Targets) panel {
	return timeSeries{
		header: header{id: 43, title: "Sync duration p99", unit: "s",
			description: "99th percentile of the duration of syncs, by result. No line without syncs. A sync before the first scrape appears only in the last sync duration."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, result) (rate(k8s_informer_sync_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} {{result}}"}},
		goal:    new(t.Of(catalog.Objectives.SyncDurationQuantile)),
	}
}

func listDuration() panel {
	return timeSeries{
		header: header{id: 44, title: "List duration", unit: "s",
			description: "Duration of complete lists, including client-side throttling. No line without lists. Large resources take longest. If all lists are slow, the API server or the client lacks CPU or bandwidth."},
		queries: []query{
			{expr: `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_informer_list_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} p99"},
			{expr: `histogram_quantile(0.5, sum by (le, @cluster, name) (rate(k8s_informer_list_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} p50"},
		},
	}
}

func listItems() panel {
	return timeSeries{
		header: header{id: 45, title: "Objects per list", unit: "short",
			description: "Mean number of objects per completed list. No line without lists. Compare with the duration of lists and with memory."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_list_items_sum{@informer}[$__rate_interval])) / sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_list_items_count{@informer}[$__rate_interval]))`, legend: legendInformer}},
	}
}

func listPages() panel {
	return timeSeries{
		header: header{id: 46, title: "List pages", unit: "short",
			description: "Pages returned by LIST requests. Normally none, since streaming lists are the default. Many pages mean reads from etcd instead of the API server's cache."},
		queries: []query{{expr: `sum by (@cluster, name) (increase(k8s_informer_list_pages_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}}"}},
		stacked: true,
	}
}
