package collectors

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// locator answers the requests of locate itself and passes all others on. It is the outermost of a client's transports,
// so that nobody else sees those requests.
type locator struct {
	next http.RoundTripper // nil for the default
}

var _ utilnet.RoundTripperWrapper = locator{}

// locationKey is the key of an *atomic.Pointer[string] in the context of a request that locate makes.
type locationKey struct{}

// RoundTrip implements http.RoundTripper.
func (l locator) RoundTrip(r *http.Request) (*http.Response, error) {
	if path, ok := r.Context().Value(locationKey{}).(*atomic.Pointer[string]); ok {
		path.Store(&r.URL.Path)
		// Success, lest whoever counts the client's errors counts one.
		return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, Request: r}, nil
	}
	return l.WrappedRoundTripper().RoundTrip(r)
}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (l locator) WrappedRoundTripper() http.RoundTripper {
	if l.next == nil {
		return http.DefaultTransport
	}
	return l.next
}

// CloseIdleConnections is what http.Client.CloseIdleConnections asks for.
func (l locator) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(l.WrappedRoundTripper()) }

// locateDeadline bounds how long an informer's creation can be held up if, against the documentation, the request goes
// another way than through a locator.
const locateDeadline = 5 * time.Second

// locate returns what a ListerWatcher watches, by the path of a request that a locator answers. It asks for a watch:
// client-go's REST client does not limit their rate, so that it takes nothing from the program's own requests and does
// not wait for them (k8s.io/client-go/rest, Request.Watch).
func locate(lw cache.ListerWatcher) (ID, bool) {
	var path atomic.Pointer[string]
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), locationKey{}, &path), locateDeadline)
	defer cancel()
	second := int64(1) // should a server be asked after all
	w, err := within(ctx, func() (watch.Interface, error) {
		return cache.ToListerWatcherWithContext(lw).WatchWithContext(ctx, metav1.ListOptions{TimeoutSeconds: &second})
	}, watch.Interface.Stop)
	if err == nil {
		w.Stop()
	}
	if path.Load() == nil {
		return ID{}, false
	}
	return idOf(*path.Load())
}

// idOf reads the path of a list: what precedes api or apis belongs to the server's address, and the version is not told.
//
//	/api/v1[/namespaces/NAMESPACE]/RESOURCE
//	/apis/GROUP/v1[/namespaces/NAMESPACE]/RESOURCE
func idOf(path string) (ID, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	slices.Reverse(parts)
	var id ID
	id.Resource, parts = parts[0], parts[1:]
	if len(parts) >= 2 && parts[1] == "namespaces" {
		id.Namespace, parts = parts[0], parts[2:]
	}
	switch {
	case len(parts) >= 2 && parts[1] == "api":
		return id, true
	case len(parts) >= 3 && parts[2] == "apis":
		id.Group = parts[1]
		return id, true
	}
	return ID{}, false
}
