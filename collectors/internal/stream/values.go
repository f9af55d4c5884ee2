package stream

import "github.com/informer-exporter/informer-exporter/internal/reason"

// Values of the label result of k8s_informer_sync_duration_seconds.
const (
	resultSuccess = "success"
	resultError   = "error"
)

// Values of the label reason of k8s_informer_relists_total.
const (
	relistInitial         = reason.Initial
	relistExpired         = reason.Expired
	relistWatchFailed     = reason.WatchFailed
	relistDecode          = reason.Decode
	relistFallback        = reason.Fallback
	relistResyncRequested = reason.ResyncRequested
)

// Ends of a watch in addition to those of errclass. watchTimeout and watchClientStop are planned, and do not count as disconnects.
const (
	watchTimeout     = reason.Timeout
	watchServerClose = reason.ServerClose
	watchVeryShort   = reason.VeryShort
	watchClientStop  = reason.ClientStop
)

// Values of the label type of k8s_informer_watch_events_total.
const (
	EventAdded    = "added"
	EventModified = "modified"
	EventDeleted  = "deleted"
	EventBookmark = "bookmark"
	EventError    = "error"
)
