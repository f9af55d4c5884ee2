package errclass

import "github.com/informer-exporter/informer-exporter/internal/reason"

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
	WatchExpired   = reason.Expired
	WatchThrottled = reason.Throttled
	// WatchError includes connections that could not be established in time.
	WatchError   = reason.Error
	WatchRefused = reason.Refused
)
