package catalog

// Resource versions.
var (
	InformerResourceVersion = gauge(familyVersions, Metric{
		Name:   "k8s_informer_resource_version",
		Help:   "Last resource version at each stage, as its 15 least significant digits, 0 before the first.",
		Notes:  "`handled` is the last watch event that all handlers have finished. Versions count changes in the whole cluster: their difference is not a time.",
		Labels: informer(labelStage),
	})
	InformerResourceVersionRegressions = counter(familyVersions, Metric{
		Name:      "k8s_informer_resource_version_regressions_total",
		Help:      "Number of lists and events with a lower resource version than one received before.",
		Notes:     "Means that etcd was restored to an earlier state, or that the client reached another cluster.",
		Labels:    informer(),
		Essential: true,
	})
	InformerUnversionedObjects = counter(familyVersions, Metric{
		Name:   "k8s_informer_unversioned_objects_total",
		Help:   "Number of received objects without a numeric resource version.",
		Notes:  "Some aggregated API servers send them. Their event lag is not reported.",
		Labels: informer(),
	})
)
