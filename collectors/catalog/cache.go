package catalog

// The caches of informers.
var (
	InformerSynced = gauge(familyCache, Metric{
		Name:      "k8s_informer_synced",
		Help:      "Whether the informer has synced (1) or not (0), as reported by client-go's HasSynced.",
		Notes:     "Stays 1 after the loss of a watch. Absent before the start.",
		Labels:    informer(),
		Essential: true,
	})
	InformerObjects = gauge(familyCache, Metric{
		Name:      "k8s_informer_objects",
		Help:      "Number of objects in the informer's cache.",
		Notes:     "Objects of the last list, with changes by watch events since.",
		Labels:    informer(),
		Essential: true,
	})
	InformerCacheHits = counter(familyCache, Metric{
		Name:   "k8s_informer_cache_hits_total",
		Help:   "Number of cache reads by key that found the object, through the store, its indexer or a lister.",
		Labels: informer(),
	})
	InformerCacheMisses = counter(familyCache, Metric{
		Name:   "k8s_informer_cache_misses_total",
		Help:   "Number of cache reads by key that did not find the object, through the store, its indexer or a lister.",
		Labels: informer(),
	})
	InformerCacheBytes = gauge(familyCache, Metric{
		Name:   "k8s_informer_cache_bytes",
		Help:   "Estimated memory of the objects in the informer's cache in bytes, by part, from a random sample.",
		Notes:  "Off by default (`Checks.Memory`). Transforms can remove `managed_fields`; informers of metadata lack `spec`, `status` and `data`.",
		Labels: informer(labelPart),
	})
	InformerUnsyncedReads = counter(familyCache, Metric{
		Name:      "k8s_informer_unsynced_reads_total",
		Help:      "Number of cache reads before the initial sync: lookups by key that found no object, and lists.",
		Notes:     "The object may exist nevertheless. Requires client-go v0.36.",
		Labels:    informer(),
		Essential: true,
	})
	InformerCacheLists = counter(familyCache, Metric{
		Name:   "k8s_informer_cache_lists_total",
		Help:   "Number of cache reads that return several objects or keys, by the index used.",
		Labels: informer(LabelIndex),
	})
)
