package dashboards

// ExporterUID is the stable id of the dashboard of the exporter itself in Grafana's addresses.
const ExporterUID = "informers-exporter"

// exporterItself answers: does the exporter see what it should, and what does it cost.
func exporterItself(c Config) page {
	t := c.Targets
	return page{
		uid:       ExporterUID,
		title:     "Informers / Exporter",
		about:     "Whether informer-exporter sees what it was asked to watch, and what it costs: memory, CPU, series, and requests to the API server.",
		variables: exporterVariables,
		alerts:    "InformerExporter.+",
		rows: []row{
			{id: 100, title: "Is it fine?", lines: []line{
				{height: 4, panels: []panel{
					exporters(), exportersBehind(t), kindsDown(), configurationsRefused(t),
					largestExporter(), slowestScrape(), ownRequestRate(),
				}, widths: []uint32{3, 3, 3, 4, 4, 4, 3}},
				{height: 6, panels: []panel{everyExporter(t)}},
			}},
			{id: 200, title: "Coverage: what does it watch?", lines: []line{
				{height: 8, panels: []panel{kinds(), shards(), watchedKinds(), discoveries()}},
				{height: 7, panels: []panel{overflows(), withoutRoom()}},
			}},
			{id: 300, title: "Cost: what does it take?", lines: []line{
				{height: 9, panels: []panel{residentMemory(), limitUsed(), cpuTime(), goroutines()}},
				{height: 9, panels: []panel{ownRequests(), scrapeDuration(), scrapedSamples()}},
			}},
		},
	}
}
