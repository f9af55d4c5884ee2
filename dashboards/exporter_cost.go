package dashboards

// ofExporters keeps the series of processes that are exporters: those of processes have nothing that says so.
const ofExporters = ` and on (@cluster, @job, @instance) informer_exporter_build_info{@target}`

const legendExporter = "{{@cluster}} {{@instance}}"

func residentMemory() panel {
	return timeSeries{
		header: header{id: 80, title: "Resident memory", unit: "bytes",
			about: "Memory of each exporter. Some 110 MiB for 100,000 objects of the 23 default kinds are normal, and 25 more for 100 kinds of custom resources, with a peak at the start. It follows the number of objects and kinds that are watched; one that rises while they do not is a leak: please report it, with a profile of the heap."},
		queries: []query{{expr: `max by (@cluster, @instance) (process_resident_memory_bytes{@target}` + ofExporters + `)`, legend: legendExporter}},
	}
}

func limitUsed() panel {
	return timeSeries{
		header: header{id: 86, title: "Share of the memory limit", unit: "percentunit",
			about: "Resident memory in comparison with the limit that the Go runtime keeps to, which the exporter takes from its container. Up to 80 % is normal, 0 where there is no limit. Beyond, the garbage collector takes the CPU: watch less, or raise the limit."},
		queries: []query{{expr: `round(max by (@cluster, @instance) (process_resident_memory_bytes{@target} / go_gc_gomemlimit_bytes{@target}` + ofExporters + `), 0.001)`, legend: legendExporter}},
		ceiling: 1,
	}
}

func cpuTime() panel {
	return timeSeries{
		header: header{id: 81, title: "CPU", unit: "percentunit",
			about: "CPU time of each exporter; 100 % is one core. A few percent are normal, more where much changes, with peaks at the start, at audits and at mass changes in the cluster."},
		queries: []query{{expr: `max by (@cluster, @instance) (rate(process_cpu_seconds_total{@target}[$__rate_interval])` + ofExporters + `)`, legend: legendExporter}},
	}
}

func goroutines() panel {
	return timeSeries{
		header: header{id: 82, title: "Goroutines", unit: "short",
			about: "Goroutines of each exporter. Some ten for each informer are normal; a rise without end is a leak: please report it, with a profile of goroutines."},
		queries: []query{{expr: `max by (@cluster, @instance) (go_goroutines{@target}` + ofExporters + `)`, legend: legendExporter}},
	}
}

func ownRequests() panel {
	return timeSeries{
		header: header{id: 83, title: "Requests to the API server", unit: "cpm",
			about: "What the exporter itself asks the API server for in a minute, by verb. With the 23 default kinds some 50 watches are normal, nearly all of them freshness checks; audits come as lists every ten minutes. A failing share shows in the dashboard of the API client."},
		queries: []query{{expr: `60 * sum by (@cluster, @instance, verb) (rate(k8s_client_requests_total{@target}[$__rate_interval])` + ofExporters + `)`, legend: legendExporter + " {{verb}}"}},
	}
}

func scrapeDuration() panel {
	return timeSeries{
		header: header{id: 84, title: "Duration of scrapes", unit: "s",
			about: "How long Prometheus waits for the metrics of each exporter. Below 50 ms is normal with the 23 default kinds, and three times that with 100 more; it does not depend on the number of objects. More is an exporter, or a Prometheus, that is short of CPU."},
		queries: []query{{expr: `max by (@cluster, @instance) (scrape_duration_seconds{@target}` + ofExporters + `)`, legend: legendExporter}},
	}
}

func scrapedSamples() panel {
	return timeSeries{
		header: header{id: 85, title: "Samples in a scrape", unit: "short",
			about: "What each exporter adds to Prometheus. Some 300 for each resource are normal, whatever the number of objects; it grows with resources and with namespaces that are watched one by one."},
		queries: []query{{expr: `max by (@cluster, @instance) (scrape_samples_scraped{@target}` + ofExporters + `)`, legend: legendExporter}},
	}
}
