package dashboards

// ExporterUID is the uid of the dashboard in Grafana. It never changes.
const ExporterUID = "informers-exporter"

// exporterItself covers the exporter: what it watches, and what it costs.
func exporterItself(c Config) page {
	t := c.Targets
	return page{
		uid:         ExporterUID,
		title:       "Informers / Exporter",
		description: "Watched and missing resources of informer-exporter, and its memory, CPU, series and API server requests.",
		variables:   exporterVariables,
		alerts:      "InformerExporter.+",
		rows: []row{
			{id: 100, title: "Summary", lines: []line{
				{height: 4, panels: []panel{
					exporters(), exporterSyncLag(t), kindsDown(), configReloadErrors(t),
					largestExporter(), slowestScrape(), ownRequestRate(),
				}, widths: []uint32{3, 3, 3, 4, 4, 4, 3}},
				{height: 6, panels: []panel{exporterTable(t)}},
			}},
			{id: 200, title: "Coverage", lines: []line{
				{height: 8, panels: []panel{kindsDownByResource(), shards(), watchedKinds(), discoveries()}},
				{height: 7, panels: []panel{labelOverflow(), droppedSeries()}},
			}},
			{id: 300, title: "Cost", lines: []line{
				{height: 9, panels: []panel{residentMemory(), memoryLimitUsed(), cpuTime(), goroutines()}},
				{height: 9, panels: []panel{ownRequests(), scrapeDuration(), scrapedSamples()}},
			}},
		},
	}
}
