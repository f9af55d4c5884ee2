package dashboards

func differences() panel {
	return timeSeries{
		header: header{id: 90, title: "Differences from the API server", unit: "short",
			about: "Objects in which a cache differs from the API server at the same resourceVersion, as two audits in a row have found, by kind. Normal is 0, and no line where audits are off, as in the library by default, or paused, as on replicas that do not lead. Anything else stays until the process takes in a full list: follow the runbook of InformerCacheDiffers."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace, kind) (k8s_informer_audit_differences{@informer})`, legend: legendInformer + " {{kind}}"}},
	}
}

func audits() panel {
	return timeSeries{
		header: header{id: 91, title: "Audits", unit: "short",
			about: "Audits by result. Normal is consistent. different: something was found, which counts once a second audit confirms it; skipped: the watch was down, the cache never rested, or the server no longer had the version; failed: the list failed."},
		queries: []query{{expr: `sum by (@cluster, name, result) (increase(k8s_informer_audits_total{@informer}[$__rate_interval]))`, legend: "{{@cluster}} {{name}} {{result}}"}},
		stacked: true,
		colours: resultColours("consistent", "different|failed"),
	}
}

func auditDuration() panel {
	return timeSeries{
		header: header{id: 92, title: "Audit duration, p99", unit: "s",
			about: "How long audits took, 99th percentile. It follows the number of objects: about two seconds for 10,000 with client-go's default rate limit. If it is long, audit less often."},
		queries: []query{{expr: `histogram_quantile(0.99, sum by (le, @cluster, name, informer_type, watch_namespace) (rate(k8s_informer_audit_duration_seconds_bucket{@informer}[$__rate_interval])))`, legend: legendInformer}},
	}
}

func keyCollisions() panel {
	return timeSeries{
		header: header{id: 93, title: "Key collisions", unit: "short",
			about: "Objects that audits found overwritten by another object with the same key, of the process with most of them. Normal is none. Otherwise the key function leaves out the namespace, or a Transform changes names."},
		queries: []query{{expr: `max by (@cluster, name, informer_type, watch_namespace) (increase(k8s_informer_key_collisions_total{@informer}[$__rate_interval]))`, legend: legendInformer}},
		stacked: true,
	}
}

func mutations() panel {
	return timeSeries{
		header: header{id: 94, title: "Objects changed in place", unit: "short",
			about: "Cached objects that a consumer has changed, among the few that are sampled. Normal is none, and so it looks where sampling is off. Otherwise the program's log names them: code must copy objects before it changes them."},
		queries: []query{{expr: `sum by (@cluster, name, informer_type, watch_namespace) (increase(k8s_informer_mutations_total{@informer}[$__rate_interval]))`, legend: legendInformer}},
		stacked: true,
	}
}
