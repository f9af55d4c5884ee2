package catalog

import "slices"

// LabelController names a controller of a program, and its queue.
var LabelController = Label{Name: "controller", Help: "name of the controller, which its queue shares"}

// controller returns the labels of a controller's metric.
func controller(more ...Label) []Label {
	return slices.Concat([]Label{LabelName, LabelController}, more)
}

// lock returns the labels of a metric of leader election.
func lock(more ...Label) []Label {
	return slices.Concat([]Label{LabelName, LabelLock}, more)
}

// client returns the labels of a metric of requests to the API server.
func client(more ...Label) []Label {
	return slices.Concat([]Label{LabelName}, more)
}

// Labels of single metrics.
var (
	LabelLock      = Label{Name: "lock", Help: "lock, by default as `namespace/name`"}
	LabelFinalizer = Label{Name: "finalizer", Help: "finalizer that the cleanup removes"}
	LabelResource  = Label{Name: "resource", Help: "resource, with its group unless it is the core group; `non-resource` for other paths"}
	LabelCode      = Label{Name: "code", Help: "HTTP status code of the response, `error` without a response"}

	LabelDropReason = Label{
		Name: "reason", Help: "why the item was dropped",
		Values: []string{DroppedMaxRetries, DroppedTerminal, DroppedShutdown},
	}
	LabelReconcileResult = Label{
		Name: "result", Help: "how the reconcile ended",
		Values: []string{ReconcileSuccess, ReconcileError, ReconcileRequeue, ReconcileRequeueAfter, ReconcileTerminal, ReconcilePanic},
	}
	LabelShutdownStep = Label{
		Name: "step", Help: "shutdown step, in order",
		Values: []string{ShutdownIntake, ShutdownWorkers, ShutdownInformers, ShutdownLock},
	}
	LabelShutdownResult = Label{
		Name: "result", Help: "how the step ended",
		Values: []string{ShutdownDone, ShutdownTimeout, ShutdownError, ShutdownPanic},
	}
	LabelCleanupResult = Label{
		Name: "result", Help: "how the attempt ended",
		Values: []string{CleanupSuccess, CleanupError, CleanupTimeout, CleanupPanic},
	}
	LabelRollbackResult = Label{
		Name: "result", Help: "how the rollback ended",
		Values: []string{CleanupSuccess, CleanupError, CleanupPanic},
	}
	LabelLeaderEvent = Label{
		Name: "event", Help: "leadership acquired, lost or released",
		Values: []string{LeaderAcquired, LeaderLost, LeaderReleased},
	}
	LabelRenewResult = Label{
		Name: "result", Help: "how the request ended",
		Values: []string{RenewSuccess, RenewConflict, RenewError},
	}
	LabelVerb = Label{
		Name: "verb", Help: "verb of the request, as in RBAC",
		Values: []string{
			VerbGet, VerbList, VerbWatch, VerbCreate, VerbUpdate, VerbPatch, VerbDelete, VerbDeleteCollection, VerbOther,
		},
	}
	// LabelSubresource is empty for the object itself, so that updates of the status stand apart from those of the spec.
	LabelSubresource = Label{
		Name: "subresource", Help: "subresource, empty for the object itself",
		Values: []string{
			SubresourceStatus, SubresourceScale, SubresourceFinalize, SubresourceEviction, SubresourceBinding,
			SubresourceToken, SubresourceApproval, SubresourceResize, SubresourceEphemeralContainers, SubresourceLog,
			SubresourceExec, SubresourceAttach, SubresourcePortForward, SubresourceProxy, SubresourceOther,
		},
	}
)

// Values of LabelDropReason.
const (
	// DroppedMaxRetries is an item that failed once more than it may.
	DroppedMaxRetries = "max_retries"
	// DroppedTerminal is an item whose error no retry can mend.
	DroppedTerminal = "terminal"
	// DroppedShutdown is an item that the shutdown left behind.
	DroppedShutdown = "shutdown"
)

// Values of LabelReconcileResult. They are controller-runtime's, apart from the last two, which it counts separately.
const (
	ReconcileSuccess      = "success"
	ReconcileError        = "error"
	ReconcileRequeue      = "requeue"
	ReconcileRequeueAfter = "requeue_after"
	// ReconcileTerminal is an error that no retry can mend.
	ReconcileTerminal = "terminal"
	ReconcilePanic    = "panic"
)

// Values of LabelShutdownStep.
const (
	// ShutdownIntake is that no new work is taken: event handlers are removed and queues shut down.
	ShutdownIntake = "stop_intake"
	// ShutdownWorkers is that the workers finish what they have begun.
	ShutdownWorkers = "drain_workers"
	// ShutdownInformers is that the informers end.
	ShutdownInformers = "stop_informers"
	// ShutdownLock is that the lock is released, so that another replica need not wait until it expires.
	ShutdownLock = "release_lock"
)

// Values of LabelShutdownResult.
const (
	ShutdownDone    = "success"
	ShutdownTimeout = "timeout"
	ShutdownError   = "error"
	ShutdownPanic   = "panic"
)

// Values of LabelCleanupResult and LabelRollbackResult.
const (
	CleanupSuccess = "success"
	CleanupError   = "error"
	// CleanupTimeout is an attempt that its deadline ended.
	CleanupTimeout = "timeout"
	CleanupPanic   = "panic"
)

// Values of LabelLeaderEvent.
const (
	LeaderAcquired = "acquired"
	// LeaderLost is leadership that ended without having been given up.
	LeaderLost = "lost"
	// LeaderReleased is leadership that the process gave up, which lets another one follow at once.
	LeaderReleased = "released"
)

// Values of LabelRenewResult.
const (
	RenewSuccess = "success"
	// RenewConflict is a lock that somebody else has written meanwhile.
	RenewConflict = "conflict"
	RenewError    = "error"
)

// Values of LabelVerb.
const (
	VerbGet              = "get"
	VerbList             = "list"
	VerbWatch            = "watch"
	VerbCreate           = "create"
	VerbUpdate           = "update"
	VerbPatch            = "patch"
	VerbDelete           = "delete"
	VerbDeleteCollection = "deletecollection"
	VerbOther            = "other"
)

// Values of LabelSubresource: those of Kubernetes' own APIs. Others are reported as other.
const (
	SubresourceStatus              = "status"
	SubresourceScale               = "scale"
	SubresourceFinalize            = "finalize"
	SubresourceEviction            = "eviction"
	SubresourceBinding             = "binding"
	SubresourceToken               = "token"
	SubresourceApproval            = "approval"
	SubresourceResize              = "resize"
	SubresourceEphemeralContainers = "ephemeralcontainers"
	SubresourceLog                 = "log"
	SubresourceExec                = "exec"
	SubresourceAttach              = "attach"
	SubresourcePortForward         = "portforward"
	SubresourceProxy               = "proxy"
	SubresourceOther               = "other"
)

// CodeError is the value of LabelCode for a request without an answer.
const CodeError = "error"
