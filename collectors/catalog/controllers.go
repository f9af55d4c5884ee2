package catalog

// Reconcilers and the orderly end of a controller.
var (
	ControllerReconcile = counter(Metric{
		Name:   "controller_reconcile_total",
		Help:   "Reconciles that have ended, by result.",
		Family: Controllers,
		Labels: controller(LabelReconcileResult),
		Covers: []string{"S9"},
	})
	ControllerReconcileDuration = histogram(Metric{
		Name:    "controller_reconcile_duration_seconds",
		Help:    "Seconds that a reconcile took, by result.",
		Family:  Controllers,
		Labels:  controller(LabelReconcileResult),
		Buckets: reconcileBuckets,
		Covers:  []string{"S9", "B7"},
	})
	ControllerActiveWorkers = gauge(Metric{
		Name:   "controller_active_workers",
		Help:   "Workers that reconcile at the time of the scrape.",
		Family: Controllers,
		Labels: controller(),
		Covers: []string{"S9"},
	})
	ControllerMaxWorkers = gauge(Metric{
		Name:   "controller_max_workers",
		Help:   "Workers that the controller has, where it says so.",
		Family: Controllers,
		Labels: controller(),
		Covers: []string{"S9"},
	})
	ControllerStaleReads = counter(Metric{
		Name:   "controller_stale_reads_total",
		Help:   "Reads from the cache that were older, or would have been, than what the controller itself had last written. Only of controllers that track their writes.",
		Family: Controllers,
		Labels: controller(),
		Covers: []string{"P9"},
	})
	ControllerShutdownDuration = gauge(Metric{
		Name:   "controller_shutdown_duration_seconds",
		Help:   "Seconds that a step of the shutdown took, by its outcome. Few processes are scraped after they have shut down: the log says the same, and a push can.",
		Family: Controllers,
		Labels: controller(LabelShutdownStep, LabelShutdownResult),
		Covers: []string{"S23"},
	})
)
