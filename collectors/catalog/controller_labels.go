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

	labelDropReason = Label{
		Name: "reason", Help: "why the item was dropped",
		Values: []string{"max_retries", "terminal", "shutdown"},
	}
	labelTraceDropReason = Label{
		Name: "reason", Help: "limit that was reached: links per reconcile, or items with recorded causes",
		Values: []string{"links", "items"},
	}
	labelReconcileResult = Label{
		Name: "result", Help: "how the reconcile ended",
		Values: []string{"success", "error", "requeue", "requeue_after", "terminal", "panic"},
	}
	labelShutdownStep = Label{
		Name: "step", Help: "shutdown step, in order",
		Values: []string{"stop_intake", "drain_workers", "stop_informers", "release_lock"},
	}
	labelShutdownResult = Label{
		Name: "result", Help: "how the step ended",
		Values: []string{"success", "timeout", "error", "panic"},
	}
	labelCleanupResult = Label{
		Name: "result", Help: "how the attempt ended",
		Values: []string{"success", "error", "timeout", "panic"},
	}
	labelRollbackResult = Label{
		Name: "result", Help: "how the rollback ended",
		Values: []string{"success", "error", "panic"},
	}
	labelLeaderEvent = Label{
		Name: "event", Help: "leadership acquired, lost or released",
		Values: []string{"acquired", "lost", "released"},
	}
	labelRenewResult = Label{
		Name: "result", Help: "how the request ended",
		Values: []string{"success", "conflict", "error"},
	}
	labelVerb = Label{
		Name: "verb", Help: "verb of the request, as in RBAC",
		Values: []string{
			"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "other",
		},
	}
	labelRequestedVersion = Label{
		Name: "resource_version", Help: "requested version: `unset` is the newest, `any` is 0, `exact` also a watch from a version, `continue` the next page, `streaming` a watch that begins with all objects",
		Values: []string{"unset", "any", "exact", "not_older_than", "continue", "streaming"},
	}
	labelWireEncoding = Label{
		Name: "encoding", Help: "whether the response was compressed on the wire",
		Values: []string{"gzip", "identity"},
	}
	// labelSubresource is empty for the object itself, so that updates of the status are distinct from those of the spec.
	labelSubresource = Label{
		Name: "subresource", Help: "subresource, empty for the object itself",
		Values: []string{
			"status", "scale", "finalize", "eviction", "binding",
			"token", "approval", "resize", "ephemeralcontainers", "log",
			"exec", "attach", "portforward", "proxy", "other",
		},
	}
)
