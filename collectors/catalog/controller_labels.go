package catalog

import "slices"

// LabelController names a controller of a program, and its queue.
var LabelController = Label{Name: "controller", Help: "name of the controller and of its queue"}

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

// Labels that only some metrics have.
var (
	LabelLock      = Label{Name: "lock", Help: "lock, by default as `namespace/name`"}
	LabelFinalizer = Label{Name: "finalizer", Help: "finalizer that the cleanup removes"}
	LabelResource  = Label{Name: "resource", Help: "resource, with its group unless it is the core group; `non-resource` for other paths"}
	labelCode      = Label{Name: "code", Help: "HTTP status code of the response, `error` without a response"}

	labelDropReason       = closed("reason", "why the item was dropped", "max_retries", "terminal", "shutdown")
	labelTraceDropReason  = closed("reason", "limit that was reached: links per reconcile, or items with recorded causes", "links", "items")
	labelReconcileResult  = closed("result", "how the reconcile ended", "success", "error", "requeue", "requeue_after", "terminal", "panic")
	labelShutdownStep     = closed("step", "shutdown step, in order", "stop_intake", "drain_workers", "stop_informers", "release_lock")
	labelShutdownResult   = closed("result", "how the step ended", "success", "timeout", "error", "panic")
	labelCleanupResult    = closed("result", "how the attempt ended", "success", "error", "timeout", "panic")
	labelRollbackResult   = closed("result", "how the rollback ended", "success", "error", "panic")
	labelLeaderEvent      = closed("event", "leadership acquired, lost or released", "acquired", "lost", "released")
	labelRenewResult      = closed("result", "how the request ended", "success", "conflict", "error")
	labelVerb             = closed("verb", "verb of the request, as in RBAC", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "other")
	labelRequestedVersion = closed("resource_version", "requested version: `unset` is the newest, `any` is 0, `exact` also a watch from a version, `continue` the next page, `streaming` a watch that begins with all objects",
		"unset", "any", "exact", "not_older_than", "continue", "streaming")
	labelWireEncoding = closed("encoding", "whether the response was compressed on the wire", "gzip", "identity")
	// labelSubresource is empty for the object itself, so that updates of the status are distinct from those of the spec.
	labelSubresource = closed("subresource", "subresource, empty for the object itself",
		"status", "scale", "finalize", "eviction", "binding", "token", "approval", "resize", "ephemeralcontainers", "log", "exec", "attach", "portforward", "proxy", "other")
)
