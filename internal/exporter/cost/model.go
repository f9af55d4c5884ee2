package cost

import "time"

// Figures of the model. They are measured, not derived: tests compare them with real exporters, and BenchmarkExporter in
// cmd/exporter measures memory at 100,000 objects.
const (
	// Series after all checks, a disconnect and a relist of each informer. Resources with status.observedGeneration have two
	// more than others.
	fullSeries, fullSeriesEach           = 120, 63
	essentialSeries, essentialSeriesEach = 81, 31

	mebibyte = 1 << 20
	// Resident memory at its peak, which includes scrapes and the first lists.
	memory         = 36 * mebibyte
	memoryInformer = mebibyte / 5
	memoryObject   = 400

	// auditPage is the number of objects in a page of an audit. The first page has half as many, which the model ignores.
	auditPage = 1000
	// auditSmall is the size of the first page: caches of one page are audited auditSooner times as often, at least a minute apart, and
	// with up to auditShare lists of all informers in an interval.
	auditSmall, auditSooner, auditShare = 500, 5, 100
	// watchPeriod is the mean duration of a watch: client-go requests a timeout between 5 and 10 minutes.
	watchPeriod = 450 * time.Second
	// discoveryRequests are sent every discoveryPeriod, jitter included.
	discoveryRequests = 2
	discoveryPeriod   = 330 * time.Second
	// watchCacheLists is the number of lists of one check of the watch cache.
	watchCacheLists = 2
	// silentChecks is the number of freshness intervals within which each informer without bookmarks is checked.
	silentChecks = 10
)
