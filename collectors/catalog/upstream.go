package catalog

// client-go's own metrics of informers, with the names, labels and meaning that Kubernetes' component-base gives them.
var (
	UpstreamQueuedItems = define(Metric{
		Name:   "informer_queued_items",
		Help:   "Items in client-go's queue between the connection and the cache, as client-go last set it: when items are added and when they are taken.",
		Kind:   Gauge,
		Family: Upstream,
		Labels: upstream(),
	})
	UpstreamProcessingLatency = define(Metric{
		Name:    "informer_processing_latency_seconds",
		Help:    "Seconds to store one or more items that were taken from client-go's queue and to pass them on. Shared informers do not wait for their handlers there; others call theirs.",
		Kind:    Histogram,
		Family:  Upstream,
		Labels:  upstream(),
		Buckets: upstreamBuckets,
	})
	UpstreamStoreResourceVersion = define(Metric{
		Name:   "informer_store_resource_version",
		Help:   "The 15 least significant digits of the resourceVersion that the cache has reached.",
		Kind:   Gauge,
		Family: Upstream,
		Labels: upstream(),
	})
)

// upstream returns the labels of client-go's metrics.
func upstream() []Label {
	return []Label{
		{Name: LabelName.Name, Help: "name given to cache.NewInformerName, or to collectors.New for all other metrics"},
		{Name: "group", Help: "API group, empty for the core group"},
		{Name: "version", Help: "API version"},
		{Name: "resource", Help: "resource, without its group"},
	}
}
