package dashboards

const legendUpstream = "{{@cluster}} {{name}} {{group}} {{version}} {{resource}}"

func upstreamQueue() panel {
	return timeSeries{
		header: header{id: 110, title: "Items in client-go's queues", unit: "short",
			about: "What has been received and is not in the cache yet, of the process with the longest queue. Around 0 is normal, with peaks at lists. A number that stays up is an informer whose store or indexers are too slow. No line where client-go's own metrics are not asked for."},
		queries: []query{{expr: `max by (@cluster, name, group, version, resource) (informer_queued_items{@program})`, legend: legendUpstream}},
	}
}

func upstreamLatency() panel {
	return timeSeries{
		header: header{id: 111, title: "Processing in client-go, p99", unit: "s",
			about: "Time to store a batch of items and to pass it on, 99th percentile. Milliseconds are normal. More means costly indexers or, with informers that have a single handler, a slow handler."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, group, version, resource) (rate(informer_processing_latency_seconds_bucket{@program}[$__rate_interval])))`, legend: legendUpstream}},
	}
}

func upstreamSpread() panel {
	return timeSeries{
		header: header{id: 112, title: "Caches of replicas apart", unit: "short",
			about: "By how much the resourceVersions of the caches of a program's processes differ. Near 0 is normal for busy resources; on idle ones it moves with bookmarks, about once a minute. A difference that only grows is a replica whose watch has stopped."},
		queries: []query{{expr: `max by (@cluster, name, group, version, resource) (informer_store_resource_version{@program}) - min by (@cluster, name, group, version, resource) (informer_store_resource_version{@program})`, legend: legendUpstream}},
	}
}
