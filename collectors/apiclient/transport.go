package apiclient

import (
	"cmp"
	"net/http"
	"path"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	clienttransport "k8s.io/client-go/transport"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/apipath"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
)

// Options are the options of WrapConfig. The zero value is useful.
type Options struct {
	// CompressedBytes counts the bytes of compressed lists and watches on the wire, k8s_client_compressed_bytes_total.
	//
	// net/http requests gzip and decompresses below every decorator, and hides the compressed size. With this option, the
	// decorator does both for lists and watches: it adds the same header to the same requests, and returns the same responses.
	// It has no effect if compression is disabled, in config or in a transport of the caller, or if that transport is not an
	// *http.Transport. A compressed response allocates about 45 KiB, as its decompression in net/http does unless it can reuse
	// a buffer.
	CompressedBytes bool
}

// WrapConfig returns a copy of config with clients that report their requests to the API server, as WrapTransport does, and how long
// they wait for config.RateLimiter if that is set. It takes the path in config.Host into account, so that it also
// recognizes the requests to a server behind a proxy, such as https://host/k8s/clusters/c-1.
//
// If config.RateLimiter is not set, each client creates its own limiter from QPS and Burst, which WrapConfig cannot observe.
// WrapConfig does not set one, because all clients would share it. Register NewMetrics to report these waits. A program with a
// single client can also set
//
//	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, config.Burst)
func WrapConfig(obs *collectors.Observer, config *rest.Config, options Options) *rest.Config {
	r := registryOf(obs)
	config = rest.CopyConfig(config)
	var prefix string
	if server, _, err := rest.DefaultServerUrlFor(config); err == nil { // otherwise no client can be created from config
		prefix = strings.TrimSuffix(path.Join("/", server.Path), "/") // as client-go prepends it to the path
	}
	if options.CompressedBytes { // innermost, so that existing wrappers see no difference
		config.WrapTransport = clienttransport.Wrappers(r.decompress(prefix), config.WrapTransport)
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return r.wrapTransport(next, prefix) })
	if config.RateLimiter != nil {
		config.RateLimiter = r.wrapLimiter(config.RateLimiter)
	}
	return config
}

// WrapTransport returns a transport that reports requests by verb, resource and status code. Requests and responses pass
// unchanged, except that the bodies of lists, watches and writes are wrapped to count what the caller reads. A nil
// transport means http.DefaultTransport. It can be passed to rest.Config.Wrap, but WrapConfig reports more.
//
// A transport that this Observer has already wrapped is returned unchanged, even if others have wrapped it since, as long as
// they have the method WrappedRoundTripper, as those of client-go do. All transports of an Observer share their series, which
// exist as long as the Observer. The transport is safe for concurrent use if next is. It allocates a few bytes for a list or watch,
// some 20 KiB for an update or patch and for any write to a resource that the program watches, and otherwise only for the first request of its kind.
func WrapTransport(obs *collectors.Observer, next http.RoundTripper) http.RoundTripper {
	return registryOf(obs).wrapTransport(next, "")
}

func (r *registry) wrapTransport(next http.RoundTripper, prefix string) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	if t, ok := next.(*transport); ok && t.registry == r {
		next, prefix = t.next, cmp.Or(prefix, t.prefix)
	}
	if r.isWrapped(next) {
		return next
	}
	return &transport{registry: r, next: next, prefix: prefix}
}

// isWrapped reports whether requests already pass a transport of this Observer.
func (r *registry) isWrapped(next http.RoundTripper) bool {
	for {
		if t, ok := next.(*transport); ok && t.registry == r {
			return true
		}
		outer, ok := next.(utilnet.RoundTripperWrapper)
		if !ok {
			return false
		}
		next = outer.WrappedRoundTripper()
	}
}

// transport decorates the transport of a client.
type transport struct {
	registry *registry
	next     http.RoundTripper
	// prefix precedes /api and /apis in the paths of the server.
	prefix string
}

var _ utilnet.RoundTripperWrapper = &transport{}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked, query string
	if r.URL != nil { // otherwise next returns an error
		asked, query = strings.TrimPrefix(r.URL.Path, t.prefix), r.URL.RawQuery
	}
	request := apipath.Parse(r.Method, asked, query)
	span := t.registry.beginSpan(r, request)
	var by *echo.Writer
	if isWrite(request) {
		by = echo.WriterOf(r.Context())
	}
	pending := t.registry.echoes.Sending(by, request.Group, request.Resource)
	sent := t.registry.Now()
	response, err := t.next.RoundTrip(r)
	code := noAnswer
	if response != nil && err == nil {
		code = response.StatusCode
	}
	took := t.registry.Now() - sent
	t.registry.count(request, code, took, endSpan(span, code, err))
	switch {
	case err == nil && isRead(request):
		t.registry.countRead(request, query, response)
	case err == nil && mayWrite(request, response):
		t.registry.observeWrite(r, write{Request: request, path: asked, query: query, sent: sent, answered: sent + took, by: by, pending: pending}, response)
	default:
		pending.Answered()
	}
	return response, err
}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper: client-go uses it to find the TLS configuration and the dialer.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(t.next) }
