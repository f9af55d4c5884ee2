package controllers

// Values of the label result of controller_reconcile_total. The first four are those of controller-runtime, which counts
// terminal errors and panics in separate metrics.
const (
	reconcileSuccess      = "success"
	reconcileError        = "error"
	reconcileRequeue      = "requeue"
	reconcileRequeueAfter = "requeue_after"
	// reconcileTerminal is an error that no retry can fix.
	reconcileTerminal = "terminal"
	reconcilePanic    = "panic"
)

// Values of the label result of controller_shutdown_duration_seconds.
const (
	shutdownSuccess = "success"
	shutdownTimeout = "timeout"
	shutdownError   = "error"
	shutdownPanic   = "panic"
)

// Values of the label result of controller_finalizer_attempts_total and controller_finalizer_rollback_duration_seconds.
const (
	cleanupSuccess = "success"
	cleanupError   = "error"
	// cleanupTimeout is an attempt that exceeded its deadline.
	cleanupTimeout = "timeout"
	cleanupPanic   = "panic"
)
