package catalog

// Lists, relists and their errors.
var (
	InformerSyncDuration = histogram(familySync, Metric{
		Name:    "k8s_informer_sync_duration_seconds",
		Help:    "Duration of syncs in seconds, by result.",
		Notes:   "A success counts from the start of the informer, or from the first attempt of a relist, until the list is complete. Each failed attempt is also observed on its own.",
		Labels:  informer(labelSyncResult),
		Buckets: syncBuckets,
	})
	InformerLastSyncDuration = gauge(familySync, Metric{
		Name:      "k8s_informer_last_sync_duration_seconds",
		Help:      "Duration of the last successful sync in seconds, 0 before the first.",
		Notes:     "Unlike a rate, shows a single sync that ended before the first scrape.",
		Labels:    informer(),
		Essential: true,
	})
	InformerRelists = counter(familySync, Metric{
		Name:   "k8s_informer_relists_total",
		Help:   "Number of complete lists, by the reason for the list.",
		Notes:  "Includes streaming lists. A LIST with several pages counts once.",
		Labels: informer(labelRelistReason),
		AtZero: []string{"expired"},
	})
	InformerListDuration = summary(familySync, Metric{
		Name:      "k8s_informer_list_duration_seconds",
		Help:      "Duration of complete lists in seconds.",
		Notes:     "Until the last page or, for a streaming list, the bookmark that ends the initial events. Includes client-side rate limiting and retries.",
		Labels:    informer(),
		Essential: true,
	})
	InformerListItems = summary(familySync, Metric{
		Name:   "k8s_informer_list_items",
		Help:   "Number of objects per complete list.",
		Labels: informer(),
	})
	InformerListPages = counter(familySync, Metric{
		Name:   "k8s_informer_list_pages_total",
		Help:   "Number of pages returned by LIST requests.",
		Notes:  "A streaming list has no pages.",
		Labels: informer(),
	})
	InformerSyncErrors = counter(familySync, Metric{
		Name:      "k8s_informer_sync_errors_total",
		Help:      "Number of list and watch errors, including those on open watch streams, by error type.",
		Notes:     "Includes errors that client-go retries silently.",
		Labels:    informer(labelErrorType),
		AtZero:    []string{"refused", "timeout", "server", "throttled"},
		Essential: true,
	})
)
