package catalog

// Clients of the API server, as its audit log shows them: programs in any language, without a change to them. A client is a user with
// the first word of its user agent; replicas are not told apart.
var (
	AuditWatchesOpen = gauge(Metric{
		Name:   "k8s_audit_watches_open",
		Help:   "Number of open watches of the client.",
		Notes:  "Watches that began before the log count from their end on.",
		Family: familyClients,
		Labels: watched(),
	})
	AuditWatches = counter(Metric{
		Name:   "k8s_audit_watches_total",
		Help:   "Number of watches that the client opened.",
		Family: familyClients,
		Labels: watched(),
	})
	AuditWatchEnds = counter(Metric{
		Name:   "k8s_audit_watch_ends_total",
		Help:   "Number of watches of the client that ended or could not be opened, by reason.",
		Notes:  "The log does not show errors inside a stream, such as 410 Gone: such an end is `server_close`, and the relist after it has the reason `expired`.",
		Family: familyClients,
		Labels: watched(labelWatchEnd),
	})
	AuditRelists = counter(Metric{
		Name:   "k8s_audit_relists_total",
		Help:   "Number of lists of the client that belong to a watch, by reason.",
		Family: familyClients,
		Labels: watched(labelRelistReason),
		AtZero: []string{"expired", "watch_failed"},
	})
	AuditCoverageGap = histogram(Metric{
		Name:    "k8s_audit_coverage_gap_seconds",
		Help:    "Duration in seconds between the end of a watch and the start of the next one.",
		Family:  familyClients,
		Labels:  watched(),
		Buckets: []float64{.1, 1, 5, 30},
	})
	AuditUnwatched = gauge(Metric{
		Name:   "k8s_audit_unwatched_seconds",
		Help:   "Duration in seconds for which the client has had no watch on what it watched before, while it sends requests; 0 if it has one.",
		Family: familyClients,
		Labels: watched(),
	})
	AuditLists = counter(Metric{
		Name:   "k8s_audit_lists_total",
		Help:   "Number of successful lists of the client, by the version that they ask for.",
		Family: familyClients,
		Labels: watched(labelListVersion),
	})
	AuditListDuration = summary(Metric{
		Name:   "k8s_audit_list_duration_seconds",
		Help:   "Duration of the client's lists in seconds, until the end of the response.",
		Family: familyClients,
		Labels: watched(),
	})
	AuditFirstEventDuration = summary(Metric{
		Name:   "k8s_audit_first_event_duration_seconds",
		Help:   "Duration in seconds from the request of a streaming list to the start of its response.",
		Family: familyClients,
		Labels: watched(),
	})
	AuditRequests = counter(Metric{
		Name:   "k8s_audit_requests_total",
		Help:   "Number of completed requests of the client, by verb and class of the status code.",
		Family: familyClients,
		Labels: []Label{LabelClient, labelAuditVerb, labelCodeClass},
	})
	AuditConflicts = counter(Metric{
		Name:   "k8s_audit_conflicts_total",
		Help:   "Number of updates and patches of the client that failed with 409 Conflict, by resource and subresource.",
		Family: familyClients,
		Labels: []Label{LabelClient, LabelInformerType, labelAuditSubresource},
	})
	AuditHotLoopWrites = gauge(Metric{
		Name:   "k8s_audit_hot_loop_writes",
		Help:   "Writes of the client to one object in the last minute in which they were more than one a second, of the busiest object.",
		Notes:  "Absent without one.",
		Family: familyClients,
		Labels: []Label{LabelClient, LabelInformerType},
	})
	AuditEvents = counter(Metric{
		Name:   "k8s_audit_events_total",
		Help:   "Number of events of the audit log, by result.",
		Notes:  "API servers count what they could not send in `apiserver_audit_error_total`.",
		Family: familyClients,
		Labels: []Label{labelAuditEvent},
		AtZero: []string{"observed", "malformed", "dropped", "duplicated"},
	})
	AuditWebhookRequests = counter(Metric{
		Name:   "k8s_audit_webhook_requests_total",
		Help:   "Number of requests to the audit webhook, by outcome.",
		Family: familyClients,
		Labels: []Label{labelWebhookOutcome},
		AtZero: []string{"accepted", "unauthorized", "invalid", "busy"},
	})
	AuditNewestEvent = gauge(Metric{
		Name:   "k8s_audit_newest_event_timestamp_seconds",
		Help:   "Unix timestamp in seconds of the newest event of the audit log, by the clock of the API server, 0 before the first.",
		Family: familyClients,
	})
)

// watched returns the labels of what a client watches, followed by more.
func watched(more ...Label) []Label {
	return append([]Label{LabelClient, LabelInformerType, LabelWatchNamespace}, more...)
}

// LabelClient is the client of a request.
var LabelClient = Label{Name: "client", Help: "user, a slash, and the first word of the user agent without its version; `other` above the limits"}

// Labels of clients with closed sets of values.
var (
	labelWatchEnd = Label{
		Name: "reason", Help: "how the watch ended or why it could not be opened",
		Values: []string{"timeout", "client_stop", "server_close", "very_short", "expired", "throttled", "error", "refused"},
	}
	labelListVersion = Label{
		Name: "version", Help: "version that the list asks for",
		Values: []string{"unset", "0", "exact", "not_older_than", "streaming", "paged"},
	}
	labelAuditVerb = Label{
		Name: "verb", Help: "verb of the request",
		Values: []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "other"},
	}
	labelCodeClass = Label{
		Name: "code", Help: "class of the status code",
		Values: []string{"2xx", "3xx", "4xx", "5xx", "other"},
	}
	labelAuditSubresource = Label{
		Name: "subresource", Help: "subresource that was written",
		Values: []string{"none", "status", "scale", "finalizers", "other"},
	}
	labelAuditEvent = Label{
		Name: "result", Help: "what became of the event",
		Values: []string{"observed", "malformed", "dropped", "duplicated"},
	}
	labelWebhookOutcome = Label{
		Name: "outcome", Help: "outcome of the request",
		Values: []string{"accepted", "unauthorized", "invalid", "busy"},
	}
)
