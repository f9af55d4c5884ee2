package catalog

// Reconcilers and the orderly end of a controller.
var (
	ControllerReconcile = define(Metric{
		Name:   "controller_reconcile_total",
		Help:   "Reconciles that have ended, by result.",
		Kind:   Counter,
		Family: Controllers,
		Labels: controller(LabelReconcileResult),
		Covers: []string{"S9"},
	})
	ControllerReconcileDuration = define(Metric{
		Name:    "controller_reconcile_duration_seconds",
		Help:    "Seconds that a reconcile took, by result.",
		Kind:    Histogram,
		Family:  Controllers,
		Labels:  controller(LabelReconcileResult),
		Buckets: reconcileBuckets,
		Covers:  []string{"S9", "B7"},
	})
	ControllerActiveWorkers = define(Metric{
		Name:   "controller_active_workers",
		Help:   "Workers that reconcile at the time of the scrape.",
		Kind:   Gauge,
		Family: Controllers,
		Labels: controller(),
		Covers: []string{"S9"},
	})
	ControllerMaxWorkers = define(Metric{
		Name:   "controller_max_workers",
		Help:   "Workers that the controller has, where it says so.",
		Kind:   Gauge,
		Family: Controllers,
		Labels: controller(),
		Covers: []string{"S9"},
	})
	ControllerStaleReads = define(Metric{
		Name:   "controller_stale_reads_total",
		Help:   "Reads from the cache that were older, or would have been, than what the controller itself had last written. Only of controllers that track their writes.",
		Kind:   Counter,
		Family: Controllers,
		Labels: controller(),
		Covers: []string{"P9"},
	})
	ControllerShutdownDuration = define(Metric{
		Name:   "controller_shutdown_duration_seconds",
		Help:   "Seconds that a step of the shutdown took, by its outcome. Few processes are scraped after they have shut down: the log says the same, and a push can.",
		Kind:   Gauge,
		Family: Controllers,
		Labels: controller(LabelShutdownStep, LabelShutdownResult),
		Covers: []string{"S23"},
	})
)
