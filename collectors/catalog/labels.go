package catalog

import "slices"

// Labels that every metric of an informer carries.
var (
	LabelName           = Label{Name: "name", Help: "program or controller, as given to `collectors.New`"}
	LabelInformerType   = Label{Name: "informer_type", Help: "resource, with its group unless it is the core group: `pods`, `deployments.apps`"}
	LabelWatchNamespace = Label{Name: "watch_namespace", Help: "watched namespace, `*` for all namespaces and for cluster-scoped resources"}
)

// informer returns the labels of an informer's metric, followed by more.
func informer(more ...Label) []Label {
	return slices.Concat([]Label{LabelName, LabelInformerType, LabelWatchNamespace}, more)
}

// Labels that only some metrics have.
var (
	LabelHandler = Label{Name: "handler", Help: "name of the event handler: the given one, or that of its function or Go type"}
	LabelIndex   = Label{Name: "index", Help: "index used, `*` for the whole store"}

	labelSyncResult   = closed("result", "how the attempt ended", "success", "error")
	labelRelistReason = closed("reason", "why the list was needed", "initial", "expired", "watch_failed", "decode", "fallback", "resync_requested")
	labelErrorType    = closed("error_type", "class of the error",
		"expired", "throttled", "forbidden", "unauthorized", "timeout", "refused", "server", "decode", "not_found", "other")
	labelDisconnectReason = closed("reason", "how the watch ended or why it could not be opened", "server_close", "very_short", "expired", "throttled", "error", "refused")
	labelEventType        = closed("type", "type of the watch event", "added", "modified", "deleted", "bookmark", "error")
	labelFreshnessResult  = closed("result", "outcome of the check", "fresh", "lagging", "error", "skipped")
	labelAuditResult      = closed("result", "outcome of the audit", "consistent", "different", "skipped", "error")
	labelPart             = closed("part", "part of the objects; `metadata` includes keys and indexes", "managed_fields", "labels_annotations", "metadata", "spec", "status", "data")
	labelDifference       = closed("difference", "type of the difference", "missing", "extra", "stale", "wrong_uid", "index", "key_collision")
	labelLostReason       = closed("reason", "why the event was lost", "transform", "stop", "list", "index")
	labelUnchangedCause   = closed("cause", "why the handler received an unchanged object", "resync", "relist")
	labelStage            = closed("stage", "stage that the version has reached", "received", "stored", "handled")
	labelCapped           = closed("label", "label that reached its limit",
		LabelInformerType.Name, LabelWatchNamespace.Name, LabelHandler.Name, LabelIndex.Name, LabelController.Name, LabelFinalizer.Name, LabelLock.Name, LabelResource.Name)
	labelDropCause = closed("cause", "what the transform returned", "error", "nil")
)
