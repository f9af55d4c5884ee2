// Package errclass classifies errors of list and watch requests for the closed sets of labels.
package errclass

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// ErrorType returns the value of the label error_type for err, which must not be nil. It does not use the text of an error,
// unless client-go has replaced the error with its text.
func ErrorType(err error) string {
	switch {
	case IsDecode(err), isUndecodable(err):
		return ErrorDecode
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		return ErrorExpired
	case apierrors.IsTooManyRequests(err):
		return ErrorThrottled
	case apierrors.IsForbidden(err):
		return ErrorForbidden
	case apierrors.IsNotFound(err):
		return ErrorNotFound
	case apierrors.IsUnauthorized(err):
		return ErrorUnauthorized
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), errors.Is(err, context.DeadlineExceeded), isDialTimeout(err):
		return ErrorTimeout
	case IsRefused(err):
		return ErrorRefused
	case isTimeout(err):
		return ErrorTimeout
	case isServer(err):
		return ErrorServer
	}
	return ErrorOther
}

// WatchEnd returns the value of the label reason of catalog.InformerWatchDisconnects for an error that ended a watch or prevented it.
func WatchEnd(err error) string {
	switch ErrorType(err) {
	case ErrorExpired:
		return WatchExpired
	case ErrorThrottled:
		return WatchThrottled
	case ErrorRefused:
		return WatchRefused
	}
	return WatchError
}

// IsDecode reports whether err means that client-go cannot decode a watch stream: a Status with the cause that
// k8s.io/client-go/rest.Request sets. client-go sets the same cause if the connection breaks during decoding, which only the
// text shows.
func IsDecode(err error) bool {
	cause, ok := apierrors.StatusCause(err, causeWatchDecoding)
	return ok && !isDead(cause)
}

// IsDead reports whether client-go made err, the object of an error event, because the connection of a watch stream broke.
func IsDead(err error) bool {
	cause, ok := apierrors.StatusCause(err, causeWatchDecoding)
	return ok && isDead(cause)
}

func isDead(cause metav1.StatusCause) bool {
	return slices.ContainsFunc(deadConnections, func(text string) bool { return strings.Contains(cause.Message, text) })
}

// IsLate reports whether err ended a watch stream some time after its last data could arrive: pings or TCP detected that the peer no
// longer responds. Ends that the peer announces, such as a reset or GOAWAY, are detected immediately.
func IsLate(err error) bool {
	cause, ok := apierrors.StatusCause(err, causeWatchDecoding)
	return ok && slices.ContainsFunc(lateEnds, func(text string) bool { return strings.HasSuffix(cause.Message, text) })
}

// lateEnds are suffixes of the errors that golang.org/x/net/http2 and the network return for a connection without a peer.
var lateEnds = []string{
	"http2: client connection lost", // pings, after 45 s by default
	"no route to host", "host is down", "network is unreachable", "connection timed out", "i/o timeout",
}

// deadConnections are texts of errors of net and golang.org/x/net/http2 that end a stream.
var deadConnections = []string{
	"watch stream: http2: ",   // pings detected a half-open connection, it was closed here, or the server sent GOAWAY
	"stream error: stream ID", // a proxy or the server has reset the stream
	"connection error: ",      // an error of the HTTP/2 protocol, which ends all streams of the connection
	"read tcp ", "write tcp ", // the connection was reset
}

// isUndecodable reports whether err means that client-go cannot decode a list: its kind is unknown, its
// structure is wrong, or it is not a list at all, such as an error page of a proxy.
func isUndecodable(err error) bool {
	if errors.As(err, new(apierrors.APIStatus)) {
		return false // a decoded Status
	}
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	return runtime.IsNotRegisteredError(err) || errors.As(err, &syntax) || errors.As(err, &shape) ||
		slices.ContainsFunc(undecodable, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// undecodable are texts of errors of k8s.io/apimachinery/pkg/runtime/serializer/json and k8s.io/client-go/rest.
var undecodable = []string{
	"couldn't get version/kind; json parse error: ",
	"serializer for ",
}

const causeWatchDecoding metav1.CauseType = "ClientWatchDecoding"

// IsStreamingListUnsupported reports whether err is the response of an API server without streaming lists (KEP-3157). Its
// validation rejects the option sendInitialEvents.
func IsStreamingListUnsupported(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsMethodNotSupported(err)
}

// IsRefused reports whether no connection could be established.
func IsRefused(err error) bool {
	if utilnet.IsConnectionRefused(err) {
		return true
	}
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func isDialTimeout(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && op.Timeout()
}

func isTimeout(err error) bool {
	return utilnet.IsTimeout(err)
}

func isServer(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code >= http.StatusInternalServerError
	}
	return utilnet.IsProbableEOF(err) || errors.Is(err, io.ErrUnexpectedEOF) || utilnet.IsHTTP2ConnectionLost(err)
}
