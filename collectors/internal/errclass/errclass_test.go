package errclass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

var pods = schema.GroupResource{Resource: "pods"}

// streamError returns the error that client-go reports when decoding a watch stream fails.
func streamError(text string) error {
	err := fmt.Errorf("unable to decode an event from the watch stream: %v", text)
	return apierrors.FromObject(apierrors.NewClientErrorReporter(http.StatusInternalServerError, "GET", "ClientWatchDecoding").AsObject(err))
}

func TestErrorTypeAndWatchEnd(t *testing.T) {
	get := func(err error) error { return &url.Error{Op: "Get", URL: "https://127.0.0.1", Err: err} }
	for _, c := range []struct {
		err       error
		errorType string
		watchEnd  string
	}{
		{apierrors.NewResourceExpired("too old"), ErrorExpired, WatchExpired},
		{apierrors.FromObject(&metav1.Status{Code: http.StatusGone, Reason: metav1.StatusReasonGone}), ErrorExpired, WatchExpired},
		{fmt.Errorf("failed to list: %w", apierrors.NewResourceExpired("too old")), ErrorExpired, WatchExpired},
		{apierrors.NewTooManyRequests("slow down", 1), ErrorThrottled, WatchThrottled},
		{apierrors.NewForbidden(pods, "", errors.New("no")), ErrorForbidden, WatchError},
		{apierrors.NewForbidden(pods, "", errors.New("serializer for text/html doesn't exist")), ErrorForbidden, WatchError},
		{errors.New("serializer for text/html doesn't exist"), ErrorDecode, WatchError},
		{apierrors.NewUnauthorized("who"), ErrorUnauthorized, WatchError},
		{apierrors.NewTimeoutError("slow", 1), ErrorTimeout, WatchError},
		{apierrors.NewServerTimeout(pods, "list", 1), ErrorTimeout, WatchError},
		{context.DeadlineExceeded, ErrorTimeout, WatchError},
		{get(timeoutError{}), ErrorTimeout, WatchError},
		{get(&net.OpError{Op: "dial", Err: timeoutError{}}), ErrorTimeout, WatchError},
		{get(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), ErrorRefused, WatchRefused},
		{get(&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}), ErrorRefused, WatchRefused},
		{apierrors.NewInternalError(errors.New("oops")), ErrorServer, WatchError},
		{apierrors.NewServiceUnavailable("later"), ErrorServer, WatchError},
		{get(io.EOF), ErrorServer, WatchError},
		{io.ErrUnexpectedEOF, ErrorServer, WatchError},
		{get(&net.OpError{Op: "read", Err: syscall.ECONNRESET}), ErrorServer, WatchError},
		{
			streamError("invalid character '<' looking for beginning of value"),
			ErrorDecode, WatchError,
		},
		{streamError("http2: client connection lost"), ErrorServer, WatchError},
		{streamError("http2: client connection force closed via ClientConn.Close"), ErrorServer, WatchError},
		{streamError("http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=\"\""), ErrorServer, WatchError},
		{streamError("connection error: PROTOCOL_ERROR"), ErrorServer, WatchError},
		{streamError("write tcp 127.0.0.1:1->127.0.0.1:2: write: broken pipe"), ErrorServer, WatchError},
		{streamError("invalid character 'h' in http2: text"), ErrorDecode, WatchError},
		{streamError("stream error: stream ID 5; INTERNAL_ERROR; received from peer"), ErrorServer, WatchError},
		{streamError("read tcp 127.0.0.1:1->127.0.0.1:2: read: no route to host"), ErrorServer, WatchError},
		{fmt.Errorf("read: %w", io.ErrUnexpectedEOF), ErrorServer, WatchError},
		{errors.New("http2: client connection lost"), ErrorServer, WatchError},
		{fmt.Errorf("list: %w", &json.SyntaxError{}), ErrorDecode, WatchError},
		{fmt.Errorf("list: %w", &json.UnmarshalTypeError{Type: reflect.TypeFor[int]()}), ErrorDecode, WatchError},
		{runtime.NewNotRegisteredErrForKind("scheme", schema.GroupVersionKind{Kind: "Widget"}), ErrorDecode, WatchError},
		{apierrors.NewNotFound(pods, ""), ErrorNotFound, WatchError},
		{errors.New("anything"), ErrorOther, WatchError},
	} {
		if got := ErrorType(c.err); got != c.errorType {
			t.Errorf("ErrorType(%v) = %s, want %s", c.err, got, c.errorType)
		}
		if got := WatchEnd(c.err); got != c.watchEnd {
			t.Errorf("WatchEnd(%v) = %s, want %s", c.err, got, c.watchEnd)
		}
	}
}

func TestStreamingListUnsupported(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil), true}, // of a server without streaming lists
		{apierrors.NewBadRequest("unknown option"), true},
		{apierrors.NewMethodNotSupported(pods, "watch"), true},
		{apierrors.NewForbidden(pods, "", nil), false},
		{errors.New("anything"), false},
	} {
		if got := IsStreamingListUnsupported(c.err); got != c.want {
			t.Errorf("%v: %t, want %t", c.err, got, c.want)
		}
	}
}

// Every status code has a class of the closed set.
func FuzzErrorType(f *testing.F) {
	f.Add(int32(410), "Expired", "too old")
	f.Add(int32(500), "InternalError", "ClientWatchDecoding")
	f.Fuzz(func(t *testing.T, code int32, reason, cause string) {
		err := apierrors.FromObject(&metav1.Status{
			Status: metav1.StatusFailure, Code: code, Reason: metav1.StatusReason(reason),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseType(cause)}}},
		})
		if got := ErrorType(err); !slices.Contains(catalog.InformerSyncErrors.Values("error_type"), got) {
			t.Fatalf("ErrorType(%v) = %q", err, got)
		}
		if got := WatchEnd(err); !slices.Contains(catalog.InformerWatchDisconnects.Values("reason"), got) {
			t.Fatalf("WatchEnd(%v) = %q", err, got)
		}
	})
}
