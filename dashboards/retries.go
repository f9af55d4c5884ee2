package dashboards

func itemRetries() panel {
	return distribution{
		header: header{id: 30, title: "Retries per item, distribution", unit: "short",
			description: "Items per second that were finished or dropped, by number of retries, over all controllers. Normally one dark band at the bottom: success at the first attempt. A higher band is a failure that takes several retries to resolve, such as a missing dependency."},
		query: `sum by (le) (rate(controller_item_retries_bucket{@controller}[$__rate_interval]))`,
	}
}

func backoff() panel {
	return timeSeries{
		header: header{id: 31, title: "Backoff", unit: "s",
			description: "Delay before the next attempt of an item. No line without retries. client-go's default doubles from 5 ms to 1000 s. A p99 of minutes means items that have failed for long; they take up to 17 more minutes after the cause is fixed."},
		queries: []query{
			{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_backoff_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendController + " p99"},
			{expr: `histogram_quantile(0.5, sum by (le, @cluster, name, controller) (rate(controller_backoff_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendController + " p50"},
		},
	}
}

func delayedItems() panel {
	return timeSeries{
		header: header{id: 32, title: "Delayed items", unit: "short",
			description: "Items in backoff or requeued for later, which the queue depth excludes. The normal number depends on the controller. A rise together with errors is a backlog."},
		queries: []query{{expr: `sum by (@cluster, name, controller) (controller_queue_delayed_items{@controller})`, legend: legendController}},
	}
}

func droppedItems() panel {
	return timeSeries{
		header: header{id: 33, title: "Dropped items by reason", unit: "short",
			description: "Items that are not retried. max_retries: the retry limit was exceeded, which should not happen. terminal: an error that no retry fixes, usually an invalid object. shutdown: left behind; the next process finds them in its initial list."},
		queries: []query{{expr: `sum by (@cluster, name, controller, reason) (increase(controller_dropped_total{@controller}[$__rate_interval]))`, legend: legendController + " {{reason}}"}},
		stacked: true,
	}
}

func coalescedAdds() panel {
	return timeSeries{
		header: header{id: 34, title: "Coalesced adds", unit: "ops",
			description: "Adds of items that were already queued: several events became one reconcile. Normally peaks at mass changes and resyncs. A high rate on a long queue shows how much work was saved."},
		queries: []query{{expr: `sum by (@cluster, name, controller) (rate(controller_queue_coalesced_total{@controller}[$__rate_interval]))`, legend: legendController}},
	}
}
