package catalog

// What informers hold and how they are read.
var (
	InformerSynced = gauge(Metric{
		Name:   "k8s_informer_synced",
		Help:   "Whether the informer has taken in a first full state (1) or not yet (0), by client-go's HasSynced. It stays 1 when the watch is lost later, and is missing until the informer is started.",
		Family: Cache,
		Labels: informer(),
		Covers: []string{"S2", "O1"},
	})
	InformerObjects = gauge(Metric{
		Name:   "k8s_informer_objects",
		Help:   "Objects in the informer's cache: those of the last full state, plus those added and minus those deleted by watch events since.",
		Family: Cache,
		Labels: informer(),
		Covers: []string{"S11"},
	})
	InformerCacheHits = counter(Metric{
		Name:   "k8s_informer_cache_hits_total",
		Help:   "Reads of the cache by key that found the object, through the informer's store, its indexer or a lister.",
		Family: Cache,
		Labels: informer(),
		Covers: []string{"S1", "B1"},
	})
	InformerCacheMisses = counter(Metric{
		Name:   "k8s_informer_cache_misses_total",
		Help:   "Reads of the cache by key that found nothing, through the informer's store, its indexer or a lister.",
		Family: Cache,
		Labels: informer(),
		Covers: []string{"S1", "B1"},
	})
	InformerCacheLists = counter(Metric{
		Name:   "k8s_informer_cache_lists_total",
		Help:   "Reads of the cache that return many objects or keys, by the index that was used.",
		Family: Cache,
		Labels: informer(LabelIndex),
		Covers: []string{"S1", "B1"},
	})
)
