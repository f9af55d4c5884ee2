package catalog

// Clean-up functions that finalizers wait for.
var (
	ControllerFinalizerAttempts = counter(Metric{
		Name:   "controller_finalizer_attempts_total",
		Help:   "Attempts to clean up before a finalizer is removed, by result.",
		Family: Finalizers,
		Labels: controller(LabelFinalizer, LabelCleanupResult),
		Covers: []string{"S16"},
	})
	ControllerFinalizerDuration = histogram(Metric{
		Name:    "controller_finalizer_duration_seconds",
		Help:    "Seconds that an attempt to clean up took, by result.",
		Family:  Finalizers,
		Labels:  controller(LabelFinalizer, LabelCleanupResult),
		Buckets: cleanupBuckets,
		Covers:  []string{"S16"},
	})
	ControllerFinalizerRollbackDuration = histogram(Metric{
		Name:    "controller_finalizer_rollback_duration_seconds",
		Help:    "Seconds that it took to undo what a failed clean-up had begun, by result.",
		Family:  Finalizers,
		Labels:  controller(LabelFinalizer, LabelRollbackResult),
		Buckets: cleanupBuckets,
		Covers:  []string{"S16"},
	})
	ControllerFinalizerOverdue = gauge(Metric{
		Name:   "controller_finalizer_overdue",
		Help:   "Objects whose clean-up has not succeeded within its deadline from the first attempt, at the time of the scrape.",
		Family: Finalizers,
		Labels: controller(LabelFinalizer),
		Covers: []string{"S16"},
	})
)
