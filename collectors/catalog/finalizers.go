package catalog

// Clean-up functions that finalizers wait for.
var (
	ControllerFinalizerAttempts = define(Metric{
		Name:   "controller_finalizer_attempts_total",
		Help:   "Attempts to clean up before a finalizer is removed, by result.",
		Kind:   Counter,
		Family: Finalizers,
		Labels: controller(LabelFinalizer, LabelCleanupResult),
		Covers: []string{"S16"},
	})
	ControllerFinalizerDuration = define(Metric{
		Name:    "controller_finalizer_duration_seconds",
		Help:    "Seconds that an attempt to clean up took, by result.",
		Kind:    Histogram,
		Family:  Finalizers,
		Labels:  controller(LabelFinalizer, LabelCleanupResult),
		Buckets: cleanupBuckets,
		Covers:  []string{"S16"},
	})
	ControllerFinalizerRollbackDuration = define(Metric{
		Name:    "controller_finalizer_rollback_duration_seconds",
		Help:    "Seconds that it took to undo what a failed clean-up had begun, by result.",
		Kind:    Histogram,
		Family:  Finalizers,
		Labels:  controller(LabelFinalizer, LabelRollbackResult),
		Buckets: cleanupBuckets,
		Covers:  []string{"S16"},
	})
	ControllerFinalizerOverdue = define(Metric{
		Name:   "controller_finalizer_overdue",
		Help:   "Objects whose clean-up has not succeeded within its deadline from the first attempt, at the time of the scrape.",
		Kind:   Gauge,
		Family: Finalizers,
		Labels: controller(LabelFinalizer),
		Covers: []string{"S16"},
	})
)
