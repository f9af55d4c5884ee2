package catalog

// Reconciles and the shutdown of controllers.
var (
	ControllerReconcile = counter(familyControllers, Metric{
		Name:      "controller_reconcile_total",
		Help:      "Number of reconciles, by result.",
		Labels:    controller(labelReconcileResult),
		AtZero:    []string{"success", "error", "terminal", "panic"},
		Essential: true,
	})
	ControllerReconcileDuration = histogram(familyControllers, Metric{
		Name:    "controller_reconcile_duration_seconds",
		Help:    "Duration of reconciles in seconds, by result.",
		Labels:  controller(labelReconcileResult),
		Buckets: reconcileBuckets,
	})
	ControllerSelfCaused = counter(familyControllers, Metric{
		Name:      "controller_self_caused_reconciles_total",
		Help:      "Number of reconciles that the controller's own writes caused.",
		Notes:     "Absent without writes, with the context of the reconcile, to a resource that the program watches.",
		Labels:    controller(),
		Essential: true,
	})
	ControllerActiveWorkers = gauge(familyControllers, Metric{
		Name:   "controller_active_workers",
		Help:   "Number of workers that are reconciling.",
		Labels: controller(),
	})
	ControllerMaxWorkers = gauge(familyControllers, Metric{
		Name:   "controller_max_workers",
		Help:   "Maximum number of workers of the controller, if it is known.",
		Labels: controller(),
	})
	ControllerStaleReads = counter(familyControllers, Metric{
		Name:   "controller_stale_reads_total",
		Help:   "Number of cache reads older than the controller's own last write.",
		Notes:  "Only with controllers.Writes. Counts even if the controller retries instead of acting on it.",
		Labels: controller(),
	})
	ControllerShutdownDuration = gauge(familyControllers, Metric{
		Name:   "controller_shutdown_duration_seconds",
		Help:   "Duration of a shutdown step in seconds, by result.",
		Notes:  "Also in the log, as processes are rarely scraped after their shutdown.",
		Labels: controller(labelShutdownStep, labelShutdownResult),
	})
)
