package catalog

// Terminating objects and observed generation lag, from the metadata and status of objects.
var (
	ObjectTerminating = gauge(familyObjects, Metric{
		Name:   "k8s_object_terminating",
		Help:   "Number of terminating objects, by the finalizer that blocks their deletion.",
		Notes:  "Counts once for each finalizer. Each watched resource has the series with namespace `*` and finalizer `none`.",
		Labels: []Label{LabelName, LabelInformerType, labelObjectNamespace, labelObjectFinalizer},
	})
	ObjectTerminatingOldest = gauge(familyObjects, Metric{
		Name:   "k8s_object_terminating_oldest_seconds",
		Help:   "Age of the oldest terminating object in seconds, 0 if there is none.",
		Notes:  "The age counts from the deletionTimestamp, which for a Pod is the end of its grace period.",
		Labels: []Label{LabelName, LabelInformerType, labelObjectNamespace, labelObjectFinalizer},
	})
	ObjectGenerationLag = gauge(familyObjects, Metric{
		Name:   "k8s_object_generation_lag",
		Help:   "Number of objects with status.observedGeneration < metadata.generation, excluding objects being deleted.",
		Notes:  "Each watched resource with the field has the series with namespace `*`.",
		Labels: []Label{LabelName, LabelInformerType, labelObjectNamespace},
	})
	ObjectGenerationLagOldest = gauge(familyObjects, Metric{
		Name:   "k8s_object_generation_lag_oldest_seconds",
		Help:   "Time in seconds since the exporter first saw the oldest unobserved generation, 0 if there is none.",
		Labels: []Label{LabelName, LabelInformerType, labelObjectNamespace},
	})
	ObjectGenerationObserved = histogram(familyObjects, Metric{
		Name:    "k8s_object_generation_observed_seconds",
		Help:    "Time until status.observedGeneration reaches a new metadata.generation, in seconds.",
		Notes:   "Excludes objects that are deleted, and objects that lag in the first list, as after a restart of the exporter. Absent with `detail: essential`.",
		Labels:  []Label{LabelName, LabelInformerType},
		Buckets: generationBuckets,
	})
	ObjectOverflow = counter(familyObjects, Metric{
		Name:   "k8s_object_overflow_total",
		Help:   "Number of Leases and objects beyond the series limit, by signal.",
		Notes:  "Such objects have `other` as their namespace and finalizer; such Leases appear only in `k8s_lease_objects`. Each namespace gets series for 100 new values, and one more per minute. A namespace named `other` is reported as `other_`.",
		Labels: []Label{labelSignal},
	})
)

// Labels of objects.
var (
	labelObjectNamespace = Label{Name: "namespace", Help: "namespace of the objects; their own name for Namespaces, `*` for other cluster-scoped resources"}
	labelObjectFinalizer = Label{Name: "finalizer", Help: "finalizer that blocks the deletion; `none` without finalizers in the metadata, as for Pods in their grace period and Namespaces"}
	labelSignal          = closed("signal", "signal that reached its limit", "leases", "terminating", "generation_lag")
)
