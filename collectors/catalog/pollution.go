package catalog

// Cache pollution: why a cache differs from what its readers expect.
var (
	InformerTransformConflicts = counter(Metric{
		Name:   "k8s_informer_transform_conflicts_total",
		Help:   "Number of times SetTransform replaced a transform that was already set on a shared informer.",
		Notes:  "The log has the call sites of both.",
		Family: familyPollution,
		Labels: informer(),
		Covers: []string{"P1"},
	})
	InformerTransformDrops = counter(Metric{
		Name:   "k8s_informer_transform_drops_total",
		Help:   "Number of objects that a transform dropped for all users of the informer, by cause.",
		Family: familyPollution,
		Labels: informer(labelDropCause),
		Covers: []string{"P2", "S19"},
	})
	InformerDuplicates = gauge(Metric{
		Name:   "k8s_informer_duplicates",
		Help:   "Number of informers in the process that watch the same resource and namespace as another one.",
		Notes:  "A duplicate costs memory and a watch, unless its selector differs.",
		Family: familyPollution,
		Labels: informer(),
		Covers: []string{"P5"},
	})
	InformerOrphans = gauge(Metric{
		Name:   "k8s_informer_orphans",
		Help:   "Number of informers still running after their context has ended.",
		Notes:  "A handler that does not return keeps its informer running.",
		Family: familyPollution,
		Labels: informer(),
		Covers: []string{"S22"},
	})
)
