package exporter

import "github.com/informer-exporter/informer-exporter/collectors/catalog"

// omitted returns the names of the library's metrics that the exporter does not report. They describe what a program does with
// its informers: the exporter has one handler for each of them, reads no cache, and its transform drops nothing. Event lag and
// pending events cover its handler; the last sync and the lists cover its syncs, and differences of the kind key_collision
// its collisions. What its lists and watches ask for is in their own metrics: relists, watches, audits and freshness checks.
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
