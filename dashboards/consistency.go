package dashboards

func regressions() panel {
	return timeSeries{
		header: header{id: 80, title: "Resource version regressions", unit: "short",
			description: "Lists and events with a lower resource version than received before, for the worst process. Normally none. Causes: etcd was restored from a backup, or the client reached another cluster."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (increase(k8s_informer_resource_version_regressions_total{@informer}[$__rate_interval]))`, legend: legendInformer}},
		stacked: true,
	}
}

func versionDistance() panel {
	return timeSeries{
		header: header{id: 81, title: "Resource version distance, received to stored", unit: "short",
			description: "Difference between the last resource version received and the last one stored. Normally 0, with peaks during bursts. It counts writes to all resources of the cluster, so the size means little; a line that stays above 0 is a stale cache."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (k8s_informer_resource_version{@informer, stage="received"} - ignoring (stage) (k8s_informer_resource_version{@informer, stage="stored"} > 0))`, legend: legendInformer}},
	}
}

func transforms() panel {
	return timeSeries{
		header: header{id: 85, title: "Transform drops and conflicts", unit: "short",
			description: "Objects that a Transform function dropped for all consumers of an informer, and Transform functions that replaced another. Normally none. The log shows where both were set."},
		queries: []query{
			{expr: `sum by (@cluster, name, informer_type, cause) (increase(k8s_informer_transform_drops_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{informer_type}} dropped: {{cause}}"},
			{expr: `sum by (@cluster, name, informer_type) (increase(k8s_informer_transform_conflicts_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{informer_type}} conflict"},
		},
		stacked: true,
	}
}

func duplicatesAndOrphans() panel {
	return timeSeries{
		header: header{id: 86, title: "Duplicate and orphaned informers", unit: "short",
			description: "Duplicates watch the same resource as another informer of the process; orphans still run after their context ended. Normally none. A duplicate costs memory and a watch, unless its selector differs. An orphan is blocked in a handler."},
		queries: []query{
			{expr: `sum by (@cluster, name, informer_type, watch_namespace) (k8s_informer_duplicates{@informer})`, legend: legendInformer + " duplicate"},
			{expr: `sum by (@cluster, name, informer_type, watch_namespace) (k8s_informer_orphans{@informer})`, legend: legendInformer + " orphan"},
		},
	}
}

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
			description: "99th percentile of the duration of audits. It grows with the number of objects: about two seconds for 10,000 at client-go's default rate limit. If it is long, audit less often."},
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
