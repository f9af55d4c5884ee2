package dashboards

// ofExporters selects the series of exporters, because process metrics have no label that identifies them.
const ofExporters = ` and on (@cluster, @job, @instance) informer_exporter_build_info{@target}`

func residentMemory() panel {
	return timeSeries{
		header: header{id: 80, title: "Resident memory", unit: "bytes",
			description: "Normally about 110 MiB for 100,000 objects of the 23 default resources, plus 25 MiB per 100 custom resources, with a peak at startup. Memory grows with watched objects and resources. A rise without them is a leak: report it with a heap profile."},
		queries: []query{{expr: `max by (@cluster, @instance) (process_resident_memory_bytes{@target}` + ofExporters + `)`, legend: legendExporter}},
	}
}

func memoryLimitUsed() panel {
	return timeSeries{
		header: header{id: 86, title: "Memory limit usage", unit: "percentunit",
			description: "Resident memory relative to the Go memory limit, which the exporter derives from its container. Normally up to 80%; 0 without a limit. Above that, the garbage collector takes more CPU: watch less, or raise the limit."},
		queries: []query{{expr: `round(max by (@cluster, @instance) (process_resident_memory_bytes{@target} / go_gc_gomemlimit_bytes{@target}` + ofExporters + `), 0.001)`, legend: legendExporter}},
		ceiling: 1,
	}
}

func cpuTime() panel {
	return timeSeries{
		header: header{id: 81, title: "CPU usage", unit: "percentunit",
			description: "CPU time of each exporter; 100% is one core. Normally a few percent, with peaks at startup, audits and mass changes."},
		queries: []query{{expr: `max by (@cluster, @instance) (rate(process_cpu_seconds_total{@target}[$__rate_interval])` + ofExporters + `)`, legend: legendExporter}},
	}
}

func goroutines() panel {
	return timeSeries{
		header: header{id: 82, title: "Goroutines", unit: "short",
			description: "Normally about ten per informer. A steady rise is a leak: report it with a goroutine profile."},
		queries: []query{{expr: `max by (@cluster, @instance) (go_goroutines{@target}` + ofExporters + `)`, legend: legendExporter}},
	}
}

func ownRequests() panel {
	return timeSeries{
		header: header{id: 83, title: "API server requests by verb", unit: "cpm",
			description: "Requests per minute of each exporter. Normally about 50 watches with the 23 default resources, mostly freshness checks; audits add lists every ten minutes. The API client dashboard shows errors."},
		queries: []query{{expr: `60 * sum by (@cluster, @instance, verb) (rate(k8s_client_requests_total{@target}[$__rate_interval])` + ofExporters + `)`, legend: legendExporter + " {{verb}}"}},
	}
}

func scrapeDuration() panel {
	return timeSeries{
		header: header{id: 84, title: "Scrape duration", unit: "s",
			description: "Duration of scrapes by Prometheus. Normally below 50 ms with the 23 default resources, three times as much with 100 more; independent of the number of objects. Higher values mean that the exporter or Prometheus lacks CPU."},
		queries: []query{{expr: `max by (@cluster, @instance) (scrape_duration_seconds{@target}` + ofExporters + `)`, legend: legendExporter}},
	}
}

func scrapedSamples() panel {
	return timeSeries{
		header: header{id: 85, title: "Samples per scrape", unit: "short",
			description: "Samples that each exporter adds to Prometheus. Normally about 300 per resource, independent of the number of objects. It grows with resources and with separately watched namespaces."},
		queries: []query{{expr: `max by (@cluster, @instance) (scrape_samples_scraped{@target}` + ofExporters + `)`, legend: legendExporter}},
	}
}
