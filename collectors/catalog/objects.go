package catalog

// Objects of the cluster that something is the matter with, by what their metadata and their status tell.
var (
	ObjectTerminating = gauge(Metric{
		Name:   "k8s_object_terminating",
		Help:   "Objects that have been deleted and are still there, by the finalizer that they wait for. One with several finalizers counts for each of them. Each resource that is followed has at least the series with the namespace `*` and the finalizer `none`.",
		Family: Objects,
		Labels: []Label{LabelName, LabelInformerType, LabelObjectNamespace, LabelObjectFinalizer},
		Covers: []string{"S16"},
	})
	ObjectTerminatingOldest = gauge(Metric{
		Name:   "k8s_object_terminating_oldest_seconds",
		Help:   "Seconds since the oldest of these objects should have been gone: since its deletionTimestamp, which for a Pod is the end of its grace period. 0 if there is none.",
		Family: Objects,
		Labels: []Label{LabelName, LabelInformerType, LabelObjectNamespace, LabelObjectFinalizer},
		Covers: []string{"S16"},
	})
	ObjectGenerationLag = gauge(Metric{
		Name:   "k8s_object_generation_lag",
		Help:   "Objects, apart from those in deletion, whose status.observedGeneration is below metadata.generation: their controller has not dealt with the last change of their spec. Each resource that has the field and is followed has at least the series with the namespace `*`.",
		Family: Objects,
		Labels: []Label{LabelName, LabelInformerType, LabelObjectNamespace},
		Covers: []string{"S17"},
	})
	ObjectGenerationLagOldest = gauge(Metric{
		Name:   "k8s_object_generation_lag_oldest_seconds",
		Help:   "Seconds that the exporter has seen the oldest of these objects in this state without a break. 0 if there is none.",
		Family: Objects,
		Labels: []Label{LabelName, LabelInformerType, LabelObjectNamespace},
		Covers: []string{"S17"},
	})
	ObjectOverflow = counter(Metric{
		Name:   "k8s_object_overflow_total",
		Help:   "Leases and objects for which a signal had no room for another series. Such objects are reported with `other` for their namespace and finalizer, such Leases only in k8s_lease_objects.",
		Family: Objects,
		Labels: []Label{LabelSignal},
	})
)

// Labels of objects.
var (
	LabelObjectNamespace = Label{Name: "namespace", Help: "namespace of the objects, for Namespaces their own name, `*` for other cluster-scoped resources"}
	LabelObjectFinalizer = Label{Name: "finalizer", Help: "finalizer that the objects wait for, `none` if their metadata has none: Pods in or past their grace period, and Namespaces, whose finalizers are in their spec"}
	LabelSignal          = Label{
		Name: "signal", Help: "what had no room",
		Values: []string{SignalLeases, SignalTerminating, SignalGenerationLag},
	}
)

// Values of LabelSignal.
const (
	SignalLeases        = "leases"
	SignalTerminating   = "terminating"
	SignalGenerationLag = "generation_lag"
)

// FinalizerNone is the value of LabelObjectFinalizer for an object without finalizers in its metadata.
const FinalizerNone = "none"
