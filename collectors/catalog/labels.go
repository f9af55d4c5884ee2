package catalog

import "slices"

// Labels that every metric of an informer carries.
var (
	LabelName         = Label{Name: "name", Help: "program or controller, as given to `collectors.New`"}
	LabelInformerType = Label{Name: "informer_type", Help: "resource, with its group unless it is the core group: `pods`, `deployments.apps`"}
	LabelNamespace    = Label{Name: "watch_namespace", Help: "watched namespace, `*` for all namespaces and for cluster-scoped resources"}
)

// informer returns the labels of an informer's metric, followed by more.
func informer(more ...Label) []Label {
	return slices.Concat([]Label{LabelName, LabelInformerType, LabelNamespace}, more)
}

// Labels of single metrics.
var (
	LabelHandler = Label{Name: "handler", Help: "event handler, by its given name or that of its Go type or function"}
	LabelIndex   = Label{Name: "index", Help: "index used, `*` for the whole store"}

	LabelSyncResult = Label{
		Name: "result", Help: "how the attempt ended",
		Values: []string{ResultSuccess, ResultFail},
	}
	LabelRelistReason = Label{
		Name: "reason", Help: "why the list was needed",
		Values: []string{RelistInitial, RelistExpired, RelistWatchFailed, RelistDecode, RelistFallback, RelistResyncRequested},
	}
	LabelErrorType = Label{
		Name: "error_type", Help: "class of the error",
		Values: []string{
			ErrorExpired, ErrorThrottled, ErrorForbidden, ErrorUnauthorized, ErrorTimeout, ErrorRefused, ErrorServer,
			ErrorDecode, ErrorOther,
		},
	}
	LabelDisconnectReason = Label{
		Name: "reason", Help: "how the watch ended or why it could not be opened",
		Values: []string{WatchServerClose, WatchVeryShort, WatchExpired, WatchThrottled, WatchError, WatchRefused},
	}
	LabelEventType = Label{
		Name: "type", Help: "type of the watch event",
		Values: []string{EventAdded, EventModified, EventDeleted, EventBookmark, EventError},
	}
	LabelFreshnessResult = Label{
		Name: "result", Help: "outcome of the check",
		Values: []string{FreshnessFresh, FreshnessLagging, FreshnessFailed, FreshnessSkipped},
	}
	LabelAuditResult = Label{
		Name: "result", Help: "outcome of the audit",
		Values: []string{AuditConsistent, AuditDifferent, AuditSkipped, AuditFailed},
	}
	LabelDifference = Label{
		Name: "kind", Help: "kind of the difference",
		Values: []string{DifferenceMissing, DifferenceExtra, DifferenceStale, DifferenceWrongUID, DifferenceIndex, DifferenceKeyCollision},
	}
	LabelLostReason = Label{
		Name: "reason", Help: "why the event was lost",
		Values: []string{LostOverrun, LostTransform, LostStop},
	}
	LabelUnchangedCause = Label{
		Name: "cause", Help: "why the handler received an unchanged object",
		Values: []string{UnchangedResync, UnchangedRelist},
	}
	LabelStage = Label{
		Name: "stage", Help: "stage that the version has reached",
		Values: []string{StageReceived, StageStored, StageHandled},
	}
	LabelCapped = Label{
		Name: "label", Help: "label that reached its limit",
		Values: []string{
			LabelInformerType.Name, LabelNamespace.Name, LabelHandler.Name, LabelIndex.Name,
			LabelController.Name, LabelFinalizer.Name, LabelLock.Name, LabelResource.Name,
		},
	}
	LabelDropCause = Label{
		Name: "cause", Help: "what the transform returned",
		Values: []string{DropError, DropNil},
	}
)

// Values of LabelSyncResult.
const (
	ResultSuccess = "success"
	ResultFail    = "error"
)

// Values of LabelRelistReason.
const (
	// RelistInitial is the first full state after the start.
	RelistInitial = "initial"
	// RelistExpired follows a 410 Gone: the server no longer has the events since the last known resourceVersion.
	RelistExpired = "expired"
	// RelistWatchFailed follows a watch that ended in an error, or that could not be opened, for any other cause.
	RelistWatchFailed = "watch_failed"
	// RelistDecode follows a watch whose stream could not be decoded.
	RelistDecode = "decode"
	// RelistFallback is a LIST because the server rejected the streaming list that was asked for first.
	RelistFallback = "fallback"
	// RelistResyncRequested follows a watch that the client itself ended without an error.
	RelistResyncRequested = "resync_requested"
)

// Values of LabelErrorType.
const (
	ErrorExpired      = "expired"
	ErrorThrottled    = "throttled"
	ErrorForbidden    = "forbidden"
	ErrorUnauthorized = "unauthorized"
	ErrorTimeout      = "timeout"
	ErrorRefused      = "refused"
	ErrorServer       = "server"
	ErrorDecode       = "decode"
	ErrorOther        = "other"
)

// Ends of a watch. WatchTimeout and WatchClientStop are no disconnects and therefore no values of
// LabelDisconnectReason.
const (
	// WatchTimeout is the planned end: the server closes each watch after the 5 to 10 minutes that the client asks for.
	WatchTimeout = "timeout"
	// WatchServerClose is a stream that closed before its time without an error, a reset connection included.
	WatchServerClose = "server_close"
	// WatchVeryShort is a stream that closed within a second without a single event, which client-go treats as a failure.
	WatchVeryShort = "very_short"
	// WatchExpired is 410 Gone, at the start or inside the stream.
	WatchExpired = "expired"
	// WatchThrottled is 429 Too Many Requests, at the start or inside the stream.
	WatchThrottled = "throttled"
	// WatchError is any other error, at the start or inside the stream.
	WatchError = "error"
	// WatchRefused is a connection that could not be established.
	WatchRefused = "refused"
	// WatchClientStop is an end that the client asked for.
	WatchClientStop = "client_stop"
)

// Values of LabelEventType.
const (
	EventAdded    = "added"
	EventModified = "modified"
	EventDeleted  = "deleted"
	EventBookmark = "bookmark"
	EventError    = "error"
)

// Values of LabelFreshnessResult.
const (
	// FreshnessFresh is a store that has all that the second watch delivered.
	FreshnessFresh = "fresh"
	// FreshnessLagging is a store that still lacked some of it after a grace time.
	FreshnessLagging = "lagging"
	// FreshnessFailed is a second watch that could not be opened, or that the server did not end in its time.
	FreshnessFailed = "error"
	// FreshnessSkipped is a check that could say nothing: the informer's own watch is down, the store has no version, or the
	// server no longer has that version.
	FreshnessSkipped = "skipped"
)

// Values of LabelAuditResult.
const (
	// AuditConsistent is a cache without a difference.
	AuditConsistent = "consistent"
	// AuditDifferent is a cache with differences, confirmed or not.
	AuditDifferent = "different"
	// AuditSkipped is an audit that could not be made: the watch is down, the cache has no version or changes faster than it
	// can be read, or the server no longer has the version (410) or does not list at exact versions.
	AuditSkipped = "skipped"
	// AuditFailed is an audit whose list failed.
	AuditFailed = "error"
)

// Values of LabelDifference.
const (
	// DifferenceMissing is an object that the API server has and the cache has not.
	DifferenceMissing = "missing"
	// DifferenceExtra is an object that the cache has and the API server has not, or a second time.
	DifferenceExtra = "extra"
	// DifferenceStale is an object with another resourceVersion than the API server has.
	DifferenceStale = "stale"
	// DifferenceWrongUID is an object with the UID of another object of the same name.
	DifferenceWrongUID = "wrong_uid"
	// DifferenceIndex is an object that an index lists under a value that it does not have, or does not list under one that
	// it has.
	DifferenceIndex = "index"
	// DifferenceKeyCollision is an object that is missing because another has its key.
	DifferenceKeyCollision = "key_collision"
)

// Values of LabelLostReason.
const (
	// LostOverrun is an event whose time of receipt was overwritten before a handler had finished with it.
	LostOverrun = "overrun"
	// LostTransform is an event whose object a Transform function dropped.
	LostTransform = "transform"
	// LostStop is an event that a handler had not been given when it was removed.
	LostStop = "stop"
)

// Values of LabelUnchangedCause.
const (
	// UnchangedResync is a resync: the object comes from the cache again.
	UnchangedResync = "resync"
	// UnchangedRelist is an object that a relist found at the same resourceVersion. client-go gives it to every handler
	// of an informer without a resync period.
	UnchangedRelist = "relist"
)

// Values of LabelStage.
const (
	StageReceived = "received"
	StageStored   = "stored"
	StageHandled  = "handled"
)

// Values of LabelDropCause.
const (
	DropError = "error"
	DropNil   = "nil"
)
