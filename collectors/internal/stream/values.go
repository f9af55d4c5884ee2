package stream

// Values of the label result of k8s_informer_sync_duration_seconds.
const (
	resultSuccess = "success"
	resultError   = "error"
)

// Values of the label reason of k8s_informer_relists_total.
const (
	// relistInitial is the first sync after the start.
	relistInitial = "initial"
	// relistExpired follows a 410 Gone: the server no longer has the events since the last known resourceVersion.
	relistExpired = "expired"
	// relistWatchFailed follows a watch that ended early or with any other error, or that could not be opened.
	relistWatchFailed = "watch_failed"
	// relistDecode follows a watch with a stream that could not be decoded.
	relistDecode = "decode"
	// relistFallback is a LIST because the API server rejected the streaming list that was requested first.
	relistFallback = "fallback"
	// relistResyncRequested follows a watch that ended as planned: stopped by the client, or at its timeout.
	relistResyncRequested = "resync_requested"
)

// Ends of a watch in addition to those of errclass. watchTimeout and watchClientStop are planned, and do not count as disconnects.
const (
	// watchTimeout is the planned end: the API server closes each watch after the 5 to 10 minutes that the client requested.
	watchTimeout = "timeout"
	// watchServerClose is a stream that closed early without an error, including a reset connection.
	watchServerClose = "server_close"
	// watchVeryShort is a stream that closed within a second without a single event, which client-go treats as a failure.
	watchVeryShort = "very_short"
	// watchClientStop is an end that the client requested.
	watchClientStop = "client_stop"
)

// Values of the label type of k8s_informer_watch_events_total.
const (
	EventAdded    = "added"
	EventModified = "modified"
	EventDeleted  = "deleted"
	EventBookmark = "bookmark"
	EventError    = "error"
)
