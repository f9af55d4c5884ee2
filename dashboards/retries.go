package dashboards

func itemRetries() panel {
	return heat{
		header: header{id: 30, title: "Retries of an item, distribution", unit: "short",
			about: "How many items a second were done with, or given up, after how many retries, over all controllers. Normal is one dark band at the bottom: success at the first attempt. A band higher up is a failure that takes that long to mend itself, such as something that is not there yet."},
		query: `sum by (le) (rate(controller_item_retries_bucket{@controller}[$__rate_interval]))`,
	}
}

func backoff() panel {
	return timeSeries{
		header: header{id: 31, title: "Back-off", unit: "s",
			about: "How long items are made to wait before their next attempt. No line where nothing is retried. client-go's default doubles from 5 ms to 1000 s: a p99 of minutes is items that have failed for long, and that take up to 17 minutes more once the cause is gone."},
		queries: []query{
			{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, controller) (rate(controller_backoff_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendController + " p99"},
			{expr: `histogram_quantile(0.5, sum by (le, @cluster, name, controller) (rate(controller_backoff_seconds_bucket{@controller}[$__rate_interval])))`, legend: legendController + " p50"},
		},
	}
}

func delayedItems() panel {
	return timeSeries{
		header: header{id: 32, title: "Items that wait for their time", unit: "short",
			about: "Items in back-off, and those that a reconcile wants to see again later. They are not part of the depth. What is normal depends on the controller; a rise together with failures is work that piles up."},
		queries: []query{{expr: `sum by (@cluster, name, controller) (controller_queue_delayed_items{@controller})`, legend: legendController}},
	}
}

func droppedItems() panel {
	return timeSeries{
		header: header{id: 33, title: "Items given up", unit: "short",
			about: "Items that nobody will try again, by reason. max_retries: they failed once more than they may, which should not happen; terminal: no retry can mend the error, usually a mistake in the object; shutdown: they were left behind, and the next process finds them again in its first list."},
		queries: []query{{expr: `sum by (@cluster, name, controller, reason) (increase(controller_dropped_total{@controller}[$__rate_interval]))`, legend: legendController + " {{reason}}"}},
		stacked: true,
	}
}

func coalescedAdds() panel {
	return timeSeries{
		header: header{id: 34, title: "Adds that were one too many", unit: "ops",
			about: "Adds of items that were waiting already: several events became one reconcile, which is what a queue is for. Peaks at mass changes and resyncs are normal. A high rate on a deep queue shows how much work was spared."},
		queries: []query{{expr: `sum by (@cluster, name, controller) (rate(controller_queue_coalesced_total{@controller}[$__rate_interval]))`, legend: legendController}},
	}
}
