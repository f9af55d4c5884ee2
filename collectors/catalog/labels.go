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

	labelSyncResult = Label{
		Name: "result", Help: "how the attempt ended",
		Values: []string{"success", "error"},
	}
	labelRelistReason = Label{
		Name: "reason", Help: "why the list was needed",
		Values: []string{"initial", "expired", "watch_failed", "decode", "fallback", "resync_requested"},
	}
	labelErrorType = Label{
		Name: "error_type", Help: "class of the error",
		Values: []string{
			"expired", "throttled", "forbidden", "unauthorized", "timeout", "refused", "server",
			"decode", "not_found", "other",
		},
	}
	labelDisconnectReason = Label{
		Name: "reason", Help: "how the watch ended or why it could not be opened",
		Values: []string{"server_close", "very_short", "expired", "throttled", "error", "refused"},
	}
	labelEventType = Label{
		Name: "type", Help: "type of the watch event",
		Values: []string{"added", "modified", "deleted", "bookmark", "error"},
	}
	labelFreshnessResult = Label{
		Name: "result", Help: "outcome of the check",
		Values: []string{"fresh", "lagging", "error", "skipped"},
	}
	labelAuditResult = Label{
		Name: "result", Help: "outcome of the audit",
		Values: []string{"consistent", "different", "skipped", "error"},
	}
	labelPart = Label{
		Name: "part", Help: "part of the objects; `metadata` includes keys and indexes",
		Values: []string{"managed_fields", "labels_annotations", "metadata", "spec", "status", "data"},
	}
	labelDifference = Label{
		Name: "difference", Help: "type of the difference",
		Values: []string{"missing", "extra", "stale", "wrong_uid", "index", "key_collision"},
	}
	labelLostReason = Label{
		Name: "reason", Help: "why the event was lost",
		Values: []string{"transform", "stop", "list", "index"},
	}
	labelUnchangedCause = Label{
		Name: "cause", Help: "why the handler received an unchanged object",
		Values: []string{"resync", "relist"},
	}
	labelStage = Label{
		Name: "stage", Help: "stage that the version has reached",
		Values: []string{"received", "stored", "handled"},
	}
	labelCapped = Label{
		Name: "label", Help: "label that reached its limit",
		Values: []string{
			LabelInformerType.Name, LabelWatchNamespace.Name, LabelHandler.Name, LabelIndex.Name,
			LabelController.Name, LabelFinalizer.Name, LabelLock.Name, LabelResource.Name,
		},
	}
	labelDropCause = Label{
		Name: "cause", Help: "what the transform returned",
		Values: []string{"error", "nil"},
	}
)
