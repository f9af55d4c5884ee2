package informer

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

// locatingTransport responds to the requests of locate itself and forwards all others. It is the outermost of a client's transports, so
// that no other transport sees the requests of locate.
type locatingTransport struct {
	next http.RoundTripper // nil for the default
}

var _ utilnet.RoundTripperWrapper = locatingTransport{}

// pathKey is the key of an *atomic.Pointer[string] in the context of a request that locate makes.
type pathKey struct{}

// locatingClient returns a copy of an HTTP client through which locate works.
func locatingClient(client *http.Client) *http.Client {
	copied := *client
	copied.Transport = locatingTransport{next: client.Transport}
	return &copied
}

// RoundTrip implements http.RoundTripper.
func (t locatingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if path, ok := r.Context().Value(pathKey{}).(*atomic.Pointer[string]); ok {
		path.Store(&r.URL.Path)
		// Status 200, so that metrics of the client count no error.
		return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, Request: r}, nil
	}
	return t.WrappedRoundTripper().RoundTrip(r)
}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (t locatingTransport) WrappedRoundTripper() http.RoundTripper {
	if t.next == nil {
		return http.DefaultTransport
	}
	return t.next
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t locatingTransport) CloseIdleConnections() {
	utilnet.CloseIdleConnectionsFor(t.WrappedRoundTripper())
}

// locateDeadline bounds the delay of an informer's creation if, against the documentation, the request does not go through the
// client that locatingClient returned.
const locateDeadline = 5 * time.Second

// locate returns the resource and the namespace that a ListerWatcher watches, from the path of a request that the client
// intercepts. It requests a watch, because client-go's REST client does not rate-limit watches: the request neither delays
// the program's own requests nor waits for them (k8s.io/client-go/rest, Request.Watch).
func locate(lw cache.ListerWatcher) (resource schema.GroupResource, namespace string, ok bool) {
	var path atomic.Pointer[string]
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), pathKey{}, &path), locateDeadline)
	defer cancel()
	second := int64(1) // in case the request reaches a server
	w, err := schedule.Call(ctx, func() (watch.Interface, error) {
		return cache.ToListerWatcherWithContext(lw).WatchWithContext(ctx, metav1.ListOptions{TimeoutSeconds: &second})
	}, watch.Interface.Stop)
	if err == nil {
		w.Stop()
	}
	if path.Load() == nil {
		return schema.GroupResource{}, "", false
	}
	return parsePath(*path.Load())
}

// parsePath parses the path of a list or watch. Segments before api or apis belong to the address of the server; the version is
// ignored.
//
//	/api/v1[/namespaces/NAMESPACE]/RESOURCE
//	/apis/GROUP/v1[/namespaces/NAMESPACE]/RESOURCE
func parsePath(path string) (resource schema.GroupResource, namespace string, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	slices.Reverse(parts)
	resource.Resource, parts = parts[0], parts[1:]
	if len(parts) >= 2 && parts[1] == "namespaces" {
		namespace, parts = parts[0], parts[2:]
	}
	switch {
	case len(parts) >= 2 && parts[1] == "api":
		return resource, namespace, true
	case len(parts) >= 3 && parts[2] == "apis":
		resource.Group = parts[1]
		return resource, namespace, true
	}
	return schema.GroupResource{}, "", false
}
