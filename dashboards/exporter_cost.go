package dashboards

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// ofExporters selects the series of exporters, because process metrics have no label that identifies them.
const ofExporters = ` and on (@cluster, @job, @instance) informer_exporter_build_info{@target}`

var residentMemory = timeSeries{header: header{id: 80, title: "Resident memory", unit: "bytes",
	description: "Normally about 50 MiB with the 23 default resources and few objects, and at most 40 MiB more per 100,000 objects, with a peak at startup. Memory grows with watched objects and resources. Any other rise is a leak: report it with a heap profile."},
	queries: []query{{expr: `max by (@cluster, @instance) (process_resident_memory_bytes{@target}` + ofExporters + `)`, legend: legendExporter}},
}

// heapUsed is the share of GOMEMLIMIT that the heap uses. Without a limit it is near 0, because GOMEMLIMIT is then larger than
// any memory.
const heapUsed = `go_memstats_heap_alloc_bytes{@target} / go_gc_gomemlimit_bytes{@target}` + ofExporters

var memoryLimitUsed = timeSeries{header: header{id: 87, title: "Memory limit usage", unit: "percentunit", zero: "No limit",
	description: "Heap relative to the Go memory limit, which the exporter derives from its container. The heap rises and falls with each garbage collection. Near the limit, the garbage collector takes more CPU: watch fewer resources, or raise the limit."},
	queries: []query{{expr: `round(max by (@cluster, @instance) (` + heapUsed + `), 0.001)`, legend: legendExporter}},
	goal:    &catalog.Objectives.ExporterMemory,
}

var cpuTime = timeSeries{header: header{id: 81, title: "CPU usage", unit: "percentunit",
	description: "CPU time of each exporter; 100% is one core. Normally a few percent, with peaks at startup, audits and mass changes."},
	queries: []query{{expr: `max by (@cluster, @instance) (rate(process_cpu_seconds_total{@target}[$__rate_interval])` + ofExporters + `)`, legend: legendExporter}},
}

var goroutines = timeSeries{header: header{id: 82, title: "Goroutines", unit: "short",
	description: "Normally about ten per informer. A steady rise is a leak: report it with a goroutine profile."},
	queries: []query{{expr: `max by (@cluster, @instance) (go_goroutines{@target}` + ofExporters + `)`, legend: legendExporter}},
}

var ownRequests = timeSeries{header: header{id: 83, title: "API server requests per minute by verb", unit: "short",
	description: "Requests per minute of each exporter. Normally about 5 watches with the 23 default resources; audits add lists every ten minutes. More watches: the API server sends no bookmarks, or freshness checks fail. The API client dashboard shows errors."},
	queries: []query{{expr: `60 * sum by (@cluster, @instance, verb) (rate(k8s_client_requests_total{@target}[$__rate_interval])` + ofExporters + `)`, legend: legendExporter + " {{verb}}"}},
}

var scrapeDuration = timeSeries{header: header{id: 84, title: "Scrape duration", unit: "s",
	description: "Duration of scrapes by Prometheus. Normally below 50 ms with the 23 default resources, or 150 ms with 100 more resources; independent of the number of objects. Higher values mean that the exporter or Prometheus lacks CPU."},
	queries: []query{{expr: `max by (@cluster, @instance) (scrape_duration_seconds{@target}` + ofExporters + `)`, legend: legendExporter}},
}

var scrapedSamples = timeSeries{header: header{id: 85, title: "Samples per scrape", unit: "short",
	description: "Samples that each exporter adds to Prometheus. Normally about 60 per resource, independent of the number of objects. The number grows with resources and with separately watched namespaces."},
	queries: []query{{expr: `max by (@cluster, @instance) (scrape_samples_scraped{@target}` + ofExporters + `)`, legend: legendExporter}},
}
