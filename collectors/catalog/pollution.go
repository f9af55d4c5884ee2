package catalog

// Pollution: what makes a cache differ from what its readers expect.
var (
	InformerTransformConflicts = define(Metric{
		Name:   "k8s_informer_transform_conflicts_total",
		Help:   "Times that SetTransform replaced a function that was already set, for all users of a shared informer. The log says where both were set.",
		Kind:   Counter,
		Family: Pollution,
		Labels: informer(),
		Covers: []string{"P1"},
	})
	InformerTransformDrops = define(Metric{
		Name:   "k8s_informer_transform_drops_total",
		Help:   "Objects that a Transform function dropped for all users of the informer, by cause.",
		Kind:   Counter,
		Family: Pollution,
		Labels: informer(LabelDropCause),
		Covers: []string{"P2", "S19"},
	})
	InformerDuplicates = define(Metric{
		Name:   "k8s_informer_duplicates",
		Help:   "Informers of this process that watch the same resource and namespace as another one: memory and a watch for nothing, unless their selectors differ.",
		Kind:   Gauge,
		Family: Pollution,
		Labels: informer(),
		Covers: []string{"P5"},
	})
	InformerOrphans = define(Metric{
		Name:   "k8s_informer_orphans",
		Help:   "Informers that still run although their context has ended. A handler that does not return keeps its informer.",
		Kind:   Gauge,
		Family: Pollution,
		Labels: informer(),
		Covers: []string{"S22"},
	})
)
