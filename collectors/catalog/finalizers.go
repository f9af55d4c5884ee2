package catalog

// Finalizer cleanups.
var (
	ControllerFinalizerAttempts = counter(familyFinalizers, Metric{
		Name:   "controller_finalizer_attempts_total",
		Help:   "Number of finalizer cleanup attempts, by result.",
		Labels: controller(LabelFinalizer, labelCleanupResult),
		AtZero: []string{"error", "timeout"},
	})
	ControllerFinalizerDuration = histogram(familyFinalizers, Metric{
		Name:             "controller_finalizer_duration_seconds",
		Help:             "Duration of finalizer cleanup attempts in seconds, by result.",
		Labels:           controller(LabelFinalizer, labelCleanupResult),
		Buckets:          cleanupBuckets,
		Essential:        true,
		EssentialBuckets: []float64{10, 60},
	})
	ControllerFinalizerRollbackDuration = histogram(familyFinalizers, Metric{
		Name:    "controller_finalizer_rollback_duration_seconds",
		Help:    "Duration of rollbacks of failed finalizer cleanups in seconds, by result.",
		Labels:  controller(LabelFinalizer, labelRollbackResult),
		Buckets: cleanupBuckets,
	})
	ControllerFinalizerOverdue = gauge(familyFinalizers, Metric{
		Name:      "controller_finalizer_overdue",
		Help:      "Number of objects that exceeded the deadline of their finalizer cleanup.",
		Notes:     "The deadline counts from the first attempt.",
		Labels:    controller(LabelFinalizer),
		Essential: true,
	})
)
