package catalog

// Pollution: what makes a cache differ from what its readers expect.
var (
	InformerTransformConflicts = counter(Metric{
		Name:   "k8s_informer_transform_conflicts_total",
		Help:   "Times that SetTransform replaced a function that was already set, for all users of a shared informer. The log says where both were set.",
		Family: Pollution,
		Labels: informer(),
		Covers: []string{"P1"},
	})
	InformerTransformDrops = counter(Metric{
		Name:   "k8s_informer_transform_drops_total",
		Help:   "Objects that a Transform function dropped for all users of the informer, by cause.",
		Family: Pollution,
		Labels: informer(LabelDropCause),
		Covers: []string{"P2", "S19"},
	})
	InformerDuplicates = gauge(Metric{
		Name:   "k8s_informer_duplicates",
		Help:   "Informers of this process that watch the same resource and namespace as another one: memory and a watch for nothing, unless their selectors differ.",
		Family: Pollution,
		Labels: informer(),
		Covers: []string{"P5"},
	})
	InformerOrphans = gauge(Metric{
		Name:   "k8s_informer_orphans",
		Help:   "Informers that still run although their context has ended. A handler that does not return keeps its informer.",
		Family: Pollution,
		Labels: informer(),
		Covers: []string{"S22"},
	})
)
