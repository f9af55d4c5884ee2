package catalog

// Cache pollution: why a cache differs from what its readers expect.
var (
	InformerTransformConflicts = counter(familyPollution, Metric{
		Name:      "k8s_informer_transform_conflicts_total",
		Help:      "Number of times SetTransform replaced a transform that was already set on a shared informer.",
		Notes:     "The log shows both call sites. Absent without a transform.",
		Labels:    informer(),
		Essential: true,
	})
	InformerTransforms = gauge(familyPollution, Metric{
		Name:   "k8s_informer_transforms",
		Help:   "Whether a transform is set (1), which changes the objects for all handlers and readers.",
		Notes:  "The log shows where, and which handlers share it.",
		Labels: informer(),
	})
	InformerIndexErrors = counter(familyPollution, Metric{
		Name:   "k8s_informer_index_errors_total",
		Help:   "Number of calls of index functions that returned an error or panicked.",
		Notes:  "client-go panics when it stores the object, which by default crashes the process.",
		Labels: informer(),
	})
	InformerTransformDrops = counter(familyPollution, Metric{
		Name:      "k8s_informer_transform_drops_total",
		Help:      "Number of objects that a transform dropped for all users of the informer, by cause.",
		Notes:     "Absent without a transform.",
		Labels:    informer(labelDropCause),
		Essential: true,
	})
	InformerForeignObjects = counter(familyPollution, Metric{
		Name:      "k8s_informer_foreign_objects_total",
		Help:      "Number of received objects from outside the namespace that the informer watches.",
		Notes:     "The namespace filter of the ListerWatcher or of a proxy has no effect. Listed objects count once per list. Absent if the informer watches all namespaces.",
		Labels:    informer(),
		Essential: true,
	})
	InformerDuplicates = gauge(familyPollution, Metric{
		Name:   "k8s_informer_duplicates",
		Help:   "Number of informers in the process that watch the same resource and namespace as another one.",
		Notes:  "One costs memory and a watch, unless its selector differs. Absent without duplicates.",
		Labels: informer(),
	})
	InformerOrphans = gauge(familyPollution, Metric{
		Name:      "k8s_informer_orphans",
		Help:      "Number of informers still running after their context has ended.",
		Notes:     "A handler that does not return keeps one running. Absent without orphans.",
		Labels:    informer(),
		Essential: true,
	})
)
