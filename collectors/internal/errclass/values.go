package errclass

// Values of the label error_type of k8s_informer_sync_errors_total.
const (
	ErrorExpired      = "expired"
	ErrorThrottled    = "throttled"
	ErrorForbidden    = "forbidden"
	ErrorUnauthorized = "unauthorized"
	ErrorTimeout      = "timeout"
	ErrorRefused      = "refused"
	ErrorServer       = "server"
	ErrorDecode       = "decode"
	// ErrorNotFound is a resource that the API server does not serve, such as that of a deleted CustomResourceDefinition.
	ErrorNotFound = "not_found"
	ErrorOther    = "other"
)

// Ends of a watch, values of the label reason of k8s_informer_watch_disconnects_total. Package stream has the
// others.
const (
	// WatchExpired is 410 Gone, at the start or inside the stream.
	WatchExpired = "expired"
	// WatchThrottled is 429 Too Many Requests, at the start or inside the stream.
	WatchThrottled = "throttled"
	// WatchError is any other error, at the start or inside the stream.
	WatchError = "error"
	// WatchRefused is a connection that could not be established, except for timeouts, which are WatchError.
	WatchRefused = "refused"
)
