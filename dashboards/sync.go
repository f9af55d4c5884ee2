package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

func lastSync(t catalog.Targets) panel {
	o := t.Of(catalog.SyncDuration)
	return timeSeries{
		header: header{id: 40, title: "Duration of the last sync", unit: "s",
			about: "How long each informer took for its last full state. It stays until the next one. A second or two is normal for thousands of objects. Failed attempts count, so compare with the errors."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_last_sync_duration_seconds{@informer})`, legend: legendInformer}},
		goal:    &o,
	}
}

func relists() panel {
	return timeSeries{
		header: header{id: 41, title: "Full states by reason", unit: "short",
			about: "Lists and streaming lists that were taken in. Normal is one initial for each informer at a start, then none. expired and watch_failed are expensive for the API server: see the disconnects."},
		queries: []query{{expr: `sum by (@cluster, name, reason) (increase(k8s_informer_relists_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{reason}}"}},
		stacked: true,
	}
}

func syncErrors() panel {
	return timeSeries{
		header: header{id: 42, title: "List and watch errors by type", unit: "short",
			about: "Errors of lists and watches, also those that client-go retries silently. Normal is none. forbidden and unauthorized: permissions and tokens; refused, timeout, server: the API server or the network; throttled: API priority and fairness."},
		queries: []query{{expr: `sum by (@cluster, name, error_type) (increase(k8s_informer_sync_errors_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{error_type}}"}},
		stacked: true,
	}
}

func syncDuration(t catalog.Targets) panel {
	o := t.Of(catalog.SyncDurationQuantile)
	return timeSeries{
		header: header{id: 43, title: "Sync duration, p99", unit: "s",
			about: "Full states that were obtained and attempts that failed, 99th percentile. No line where there was none. A sync before the first scrape does not show here but in the duration of the last sync."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, result) (rate(k8s_informer_sync_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} {{result}}"}},
		goal:    &o,
	}
}

func listDuration() panel {
	return timeSeries{
		header: header{id: 44, title: "List duration", unit: "s",
			about: "Complete lists, waiting in the client's rate limiter included. No line where there was none. The longest lists are of the largest resources; all of them long at once means that the API server or the client is short of something."},
		queries: []query{
			{expr: `histogram_quantile(0.99, sum by (le, @cluster, name) (rate(k8s_informer_list_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} p99"},
			{expr: `histogram_quantile(0.5, sum by (le, @cluster, name) (rate(k8s_informer_list_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: "{{@cluster}} {{name}} p50"},
		},
	}
}

func listItems() panel {
	return timeSeries{
		header: header{id: 45, title: "Objects in lists", unit: "short",
			about: "Mean number of objects in the lists that were completed. No line where there was none. It explains the duration of lists and the memory that they take."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_list_items_sum{@informer}[$__rate_interval])) / sum by (@cluster, name, informer_type, watch_namespace) (rate(k8s_informer_list_items_count{@informer}[$__rate_interval]))`, legend: legendInformer}},
	}
}

func listPages() panel {
	return timeSeries{
		header: header{id: 46, title: "Pages of lists", unit: "short",
			about: "Pages that LIST requests returned. None is normal: client and server stream the list by default. Many pages mean that etcd is read instead of the API server's cache."},
		queries: []query{{expr: `sum by (@cluster, name) (increase(k8s_informer_list_pages_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}}"}},
		stacked: true,
	}
}
