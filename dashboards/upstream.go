package dashboards

const legendUpstream = "{{@cluster}} {{name}} {{group}} {{version}} {{resource}}"

func upstreamQueue() panel {
	return timeSeries{
		header: header{id: 110, title: "Queued items in client-go", unit: "short",
			description: "Items received but not yet in the cache, for the worst process. Normally near 0, with peaks at lists. A value that stays up means a slow store or slow indexers. No line where client-go's metrics are not enabled."},
		queries: []query{{expr: `max by (@cluster, name, group, version, resource) (informer_queued_items{@program})`, legend: legendUpstream}},
	}
}

func upstreamLatency() panel {
	return timeSeries{
		header: header{id: 111, title: "Processing latency in client-go, p99", unit: "s",
			description: "99th percentile of the time to store and distribute a batch of items. Normally milliseconds. More means costly indexers or, for informers with a single handler, a slow handler."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, group, version, resource) (rate(informer_processing_latency_seconds_bucket{@program}[$__rate_interval])))`, legend: legendUpstream}},
	}
}

func upstreamSpread() panel {
	return timeSeries{
		header: header{id: 112, title: "Resource version spread between replicas", unit: "short",
			description: "Difference between the cached resource versions of a program's processes. Normally near 0 for busy resources; idle ones move with bookmarks, about once a minute. A steady rise is a replica whose watch has stopped."},
		queries: []query{{expr: `max by (@cluster, name, group, version, resource) (informer_store_resource_version{@program}) - min by (@cluster, name, group, version, resource) (informer_store_resource_version{@program})`, legend: legendUpstream}},
	}
}
