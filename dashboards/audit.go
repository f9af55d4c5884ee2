package dashboards

func differences() panel {
	return timeSeries{
		header: header{id: 90, title: "Cache inconsistencies by kind", unit: "short",
			description: "Objects inconsistent with the API server at the same resource version, confirmed by two consecutive audits. Normally 0. No line where audits are off, the library's default, or paused, as on standby replicas. It lasts until the next full list: see the runbook of InformerCacheDiffers."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace, kind) (k8s_informer_audit_differences{@informer})`, legend: legendInformer + " {{kind}}"}},
	}
}

func audits() panel {
	return timeSeries{
		header: header{id: 91, title: "Audits by result", unit: "short",
			description: "Normally consistent. different: a difference that the next audit has to confirm. skipped: the watch was down, the cache kept changing, or the server no longer had the version. error: the list failed."},
		queries: []query{{expr: `sum by (@cluster, name, result) (increase(k8s_informer_audits_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{result}}"}},
		stacked: true,
		colors:  resultColors("consistent", "different|error"),
	}
}

func auditDuration() panel {
	return timeSeries{
		header: header{id: 92, title: "Audit duration p99", unit: "s",
			description: "99th percentile. It grows with the number of objects: about two seconds for 10,000 at client-go's default rate limit. If it is long, audit less often."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, watch_namespace) (rate(k8s_informer_audit_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: legendInformer}},
	}
}

func keyCollisions() panel {
	return timeSeries{
		header: header{id: 93, title: "Key collisions", unit: "short",
			description: "Objects that another object with the same key has overwritten, found by audits, for the worst process. Normally none. Check the key function for a missing namespace, and Transform functions for changed names."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (increase(k8s_informer_key_collisions_total{@informer}[$__rate_interval]))`, legend: legendInformer}},
		stacked: true,
	}
}

func mutations() panel {
	return timeSeries{
		header: header{id: 94, title: "Mutated cached objects", unit: "short",
			description: "Cached objects that a consumer modified in place, among a small sample. Normally none; also none where sampling is off. The program's log names the objects. Code must copy objects before modifying them."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (increase(k8s_informer_mutations_total{@informer}[$__rate_interval]))`, legend: legendInformer}},
		stacked: true,
	}
}
