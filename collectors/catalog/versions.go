package catalog

// Resource versions.
var (
	InformerResourceVersion = gauge(Metric{
		Name:   "k8s_informer_resource_version",
		Help:   "Last resource version at each stage, as its 15 least significant digits, 0 before the first.",
		Notes:  "The stage `handled` is the version of the last watch event that all handlers have finished. The difference between two versions counts changes in the whole cluster, not of this resource, and is not a time.",
		Family: familyVersions,
		Labels: informer(labelStage),
	})
	InformerResourceVersionRegressions = counter(Metric{
		Name:      "k8s_informer_resource_version_regressions_total",
		Help:      "Number of lists and events with a lower resource version than one received before.",
		Notes:     "An API server never does this, unless etcd was restored to an earlier state or the client reached another cluster.",
		Family:    familyVersions,
		Labels:    informer(),
		Essential: true,
	})
	InformerUnversionedObjects = counter(Metric{
		Name:   "k8s_informer_unversioned_objects_total",
		Help:   "Number of received objects without a numeric resource version.",
		Notes:  "Their event lag is unknown and not reported. Some aggregated API servers send such objects. Absent before the first.",
		Family: familyVersions,
		Labels: informer(),
	})
)
