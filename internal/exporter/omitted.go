package exporter

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// omitted returns the names of the library's metrics that the exporter does not report. They describe how a program uses its
// informers, but the exporter has one handler per informer, reads no cache, and its transform drops no objects. Other metrics
// cover the rest: event lag and pending events cover the handlers, the last sync duration and the number of objects cover syncs,
// and audit differences with difference="key_collision" cover key collisions. List and watch requests are counted as relists,
// watches, audits and freshness checks.
func omitted() []string {
	var names []string
	for _, m := range []catalog.Definition{
		catalog.InformerHandlers, catalog.InformerHandlerDuration, catalog.InformerHandlerPanics, catalog.InformerHandlerResyncPeriod,
		catalog.InformerCacheHits, catalog.InformerCacheMisses, catalog.InformerCacheLists,
		catalog.InformerResyncPeriods, catalog.InformerUnsyncedReads, catalog.InformerIndexErrors, catalog.InformerStoreLag,
		catalog.InformerTransforms, catalog.InformerTransformConflicts, catalog.InformerTransformDrops,
		catalog.InformerSyncDuration, catalog.InformerListItems, catalog.InformerKeyCollisions,
		catalog.ClientReads,
	} {
		names = append(names, m.Define().Name)
	}
	return names
}
