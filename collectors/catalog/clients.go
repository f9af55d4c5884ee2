package catalog

// Clients of the API server, as its audit log shows them: programs in any language, without a change to them. A client is a user with
// the first word of its user agent; replicas are not told apart.
var (
	AuditWatchesOpen = gauge(familyClients, Metric{
		Name:   "k8s_audit_watches_open",
		Help:   "Number of open watches of the client.",
		Notes:  "Watches that began before the log count from their end on.",
		Labels: watched(),
	})
	AuditWatches = counter(familyClients, Metric{
		Name:   "k8s_audit_watches_total",
		Help:   "Number of watches that the client opened.",
		Labels: watched(),
	})
	AuditWatchEnds = counter(familyClients, Metric{
		Name:   "k8s_audit_watch_ends_total",
		Help:   "Number of watches of the client that ended or could not be opened, by reason.",
		Notes:  "The log does not show errors inside a stream, such as 410 Gone: such an end is `server_close`, and the relist after it has the reason `expired`.",
		Labels: watched(labelWatchEnd),
	})
	AuditRelists = counter(familyClients, Metric{
		Name:   "k8s_audit_relists_total",
		Help:   "Number of lists of the client that belong to a watch, by reason.",
		Labels: watched(labelRelistReason),
		AtZero: []string{"expired", "watch_failed"},
	})
	AuditCoverageGap = histogram(familyClients, Metric{
		Name:    "k8s_audit_coverage_gap_seconds",
		Help:    "Duration in seconds between the end of a watch and the start of the next one.",
		Labels:  watched(),
		Buckets: []float64{.1, 1, 5, 30},
	})
	AuditUnwatched = gauge(familyClients, Metric{
		Name:   "k8s_audit_unwatched_seconds",
		Help:   "Duration in seconds for which the client has had no watch on what it watched before, while it sends requests; 0 if it has one.",
		Labels: watched(),
	})
	AuditLists = counter(familyClients, Metric{
		Name:   "k8s_audit_lists_total",
		Help:   "Number of successful lists of the client, by the version that they ask for.",
		Labels: watched(labelListVersion),
	})
	AuditListDuration = summary(familyClients, Metric{
		Name:   "k8s_audit_list_duration_seconds",
		Help:   "Duration of the client's lists in seconds, until the end of the response.",
		Labels: watched(),
	})
	AuditFirstEventDuration = summary(familyClients, Metric{
		Name:   "k8s_audit_first_event_duration_seconds",
		Help:   "Duration in seconds from the request of a streaming list to the start of its response.",
		Labels: watched(),
	})
	AuditRequests = counter(familyClients, Metric{
		Name:   "k8s_audit_requests_total",
		Help:   "Number of completed requests of the client, by verb and class of the status code.",
		Labels: []Label{LabelClient, labelAuditVerb, labelCodeClass},
	})
	AuditConflicts = counter(familyClients, Metric{
		Name:   "k8s_audit_conflicts_total",
		Help:   "Number of updates and patches of the client that failed with 409 Conflict, by resource and subresource.",
		Labels: []Label{LabelClient, LabelInformerType, labelAuditSubresource},
	})
	AuditHotLoopWrites = gauge(familyClients, Metric{
		Name:   "k8s_audit_hot_loop_writes",
		Help:   "Writes of the client to one object in the last minute in which they were more than one a second, of the busiest object.",
		Notes:  "Absent without one.",
		Labels: []Label{LabelClient, LabelInformerType},
	})
	AuditEvents = counter(familyClients, Metric{
		Name:   "k8s_audit_events_total",
		Help:   "Number of events of the audit log, by result.",
		Notes:  "API servers count what they could not send in `apiserver_audit_error_total`.",
		Labels: []Label{labelAuditEvent},
		AtZero: []string{"observed", "malformed", "dropped", "duplicated"},
	})
	AuditWebhookRequests = counter(familyClients, Metric{
		Name:   "k8s_audit_webhook_requests_total",
		Help:   "Number of requests to the audit webhook, by outcome.",
		Labels: []Label{labelWebhookOutcome},
		AtZero: []string{"accepted", "unauthorized", "invalid", "busy"},
	})
	AuditNewestEvent = gauge(familyClients, Metric{
		Name: "k8s_audit_newest_event_timestamp_seconds",
		Help: "Unix timestamp in seconds of the newest event of the audit log, by the clock of the API server, 0 before the first.",
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
	labelWatchEnd = closed("reason", "how the watch ended or why it could not be opened",
		"timeout", "client_stop", "server_close", "very_short", "expired", "throttled", "error", "refused")
	labelListVersion      = closed("version", "version that the list asks for", "unset", "0", "exact", "not_older_than", "streaming", "paged")
	labelAuditVerb        = closed("verb", "verb of the request", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "other")
	labelCodeClass        = closed("code", "class of the status code", "2xx", "3xx", "4xx", "5xx", "other")
	labelAuditSubresource = closed("subresource", "subresource that was written", "none", "status", "scale", "finalizers", "other")
	labelAuditEvent       = closed("result", "what became of the event", "observed", "malformed", "dropped", "duplicated")
	labelWebhookOutcome   = closed("outcome", "outcome of the request", "accepted", "unauthorized", "invalid", "busy")
)
