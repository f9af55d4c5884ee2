package catalog

// Versions: how far resourceVersions have come.
var (
	InformerResourceVersion = gauge(Metric{
		Name:   "k8s_informer_resource_version",
		Help:   "The last resourceVersion that was received, that the store has, and of the last watch event that all handlers have finished, as its 15 least significant digits; 0 where there is none yet. The distance of two versions counts changes to the whole cluster, not to this resource, and is no time.",
		Family: Versions,
		Labels: informer(LabelStage),
		Covers: []string{"S12", "S13"},
	})
	InformerResourceVersionRegressions = counter(Metric{
		Name:   "k8s_informer_resource_version_regressions_total",
		Help:   "Times that the resourceVersion of a list or an event was lower than one received before. An API server never does this, unless etcd has been restored to an earlier state or the client has reached another cluster.",
		Family: Versions,
		Labels: informer(),
		Covers: []string{"S12"},
	})
)
