// Package reason has the reasons for which watches end and lists follow. The library, which sees them inside a program, and the
// audit-log observer, which sees them from the API server, share these closed sets.
package reason

// Ends of a watch. Timeout and ClientStop are planned, and do not count as disconnects.
const (
	// Timeout is the planned end: the API server closes each watch after the 5 to 10 minutes that the client requested.
	Timeout = "timeout"
	// ClientStop is an end that the client requested.
	ClientStop = "client_stop"
	// ServerClose is a stream that closed early without an error, including a reset connection.
	ServerClose = "server_close"
	// VeryShort is a stream that closed within a second without a single event, which client-go treats as a failure.
	VeryShort = "very_short"
	// Expired is 410 Gone, at the start or inside the stream. As the reason for a list: the server no longer has the events since the
	// last known resourceVersion.
	Expired = "expired"
	// Throttled is 429 Too Many Requests, at the start or inside the stream.
	Throttled = "throttled"
	// Error is any other error, at the start or inside the stream.
	Error = "error"
	// Refused is a connection that could not be established, except for timeouts, which are Error.
	Refused = "refused"
)

// Reasons for lists, with Expired.
const (
	// Initial is the first list after the start.
	Initial = "initial"
	// WatchFailed follows a watch that ended early or with an error other than 410, or that could not be opened.
	WatchFailed = "watch_failed"
	// Decode follows a watch with a stream that could not be decoded.
	Decode = "decode"
	// Fallback is a LIST because the API server rejected the streaming list that was requested first.
	Fallback = "fallback"
	// ResyncRequested follows a watch that ended as planned.
	ResyncRequested = "resync_requested"
)

// Disconnects returns the ends of a watch that are not planned, in the order in which they are documented.
func Disconnects() []string {
	return []string{ServerClose, VeryShort, Expired, Throttled, Error, Refused}
}

// Ends returns all ends of a watch, the planned ones first.
func Ends() []string { return append([]string{Timeout, ClientStop}, Disconnects()...) }

// Relists returns the reasons for lists, in the order in which they are documented.
func Relists() []string {
	return []string{Initial, Expired, WatchFailed, Decode, Fallback, ResyncRequested}
}

const (
	// ShortWatch is the duration in seconds below which client-go calls a watch without events very short
	// (k8s.io/client-go/tools/cache/reflector.go, VeryShortWatchError).
	ShortWatch = 1
	// PlannedWatch is the shortest watch timeout of client-go in seconds. It is assumed for clients that set none.
	PlannedWatch = 5 * 60
	// TimeoutTolerance is how many seconds earlier than its timeout a watch may end: the server measures it with its own clock.
	TimeoutTolerance = 1
)
