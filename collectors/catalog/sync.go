package catalog

// Lists, relists and their errors.
var (
	InformerSyncDuration = histogram(Metric{
		Name:    "k8s_informer_sync_duration_seconds",
		Help:    "Seconds to obtain a full state. Success: from the start of the informer or the first attempt of a relist, failed attempts included, until the initial state was in the store or a later one had been received. Fail: of each attempt that failed.",
		Family:  Sync,
		Labels:  informer(LabelSyncResult),
		Buckets: syncBuckets,
		Covers:  []string{"S2"},
	})
	InformerLastSyncDuration = gauge(Metric{
		Name:   "k8s_informer_last_sync_duration_seconds",
		Help:   "Seconds that the last successful sync took, measured like k8s_informer_sync_duration_seconds; 0 before the first. A rate over the histogram cannot see a single sync before the first scrape, this gauge can.",
		Family: Sync,
		Labels: informer(),
		Covers: []string{"S2"},
	})
	InformerRelists = counter(Metric{
		Name:   "k8s_informer_relists_total",
		Help:   "Full states taken in, by what made them necessary, whether they came by LIST or by streaming list.",
		Family: Sync,
		Labels: informer(LabelRelistReason),
		Covers: []string{"S2", "S14"},
	})
	InformerListDuration = histogram(Metric{
		Name:    "k8s_informer_list_duration_seconds",
		Help:    "Seconds of one complete list, from the first request to its last page or, for a streaming list, to the bookmark that ends the initial events. Includes waiting in the client's rate limiter and its retries.",
		Family:  Sync,
		Labels:  informer(),
		Buckets: syncBuckets,
		Covers:  []string{"S2", "B1"},
	})
	InformerListItems = histogram(Metric{
		Name:    "k8s_informer_list_items",
		Help:    "Objects in each complete list.",
		Family:  Sync,
		Labels:  informer(),
		Buckets: itemBuckets,
		Covers:  []string{"S2", "B1"},
	})
	InformerListPages = counter(Metric{
		Name:   "k8s_informer_list_pages_total",
		Help:   "Pages that LIST requests returned. A streaming list has none.",
		Family: Sync,
		Labels: informer(),
		Covers: []string{"S2"},
	})
	InformerSyncErrors = counter(Metric{
		Name:   "k8s_informer_sync_errors_total",
		Help:   "Errors of list and watch requests and inside watch streams, by class, including those that client-go retries without telling anybody.",
		Family: Sync,
		Labels: informer(LabelErrorType),
		Covers: []string{"S4"},
	})
)
