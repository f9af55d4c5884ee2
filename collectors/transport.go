package collectors

import (
	"cmp"
	"net/http"
	"path"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/internal/apipath"
)

// WrapConfig returns a copy of config whose clients report their requests to the API server, as WrapTransport has it, and
// the waits for config.RateLimiter, if that is set. It knows the path of config.Host, and so what is asked of servers
// behind a proxy like https://host/k8s/clusters/c-1.
//
// Where only QPS and Burst are set, or nothing, waits cannot be seen: each client makes a limiter of its own then, and to
// put one in their place would make them share it. A program that has one client says so with
//
//	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, config.Burst)
func (o *Observer) WrapConfig(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	var prefix string
	if server, _, err := rest.DefaultServerUrlFor(config); err == nil { // else no client can be made of it
		prefix = strings.TrimSuffix(path.Join("/", server.Path), "/") // as client-go puts it before the path
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return o.wrapTransport(next, prefix) })
	if config.RateLimiter != nil {
		config.RateLimiter = o.clientLimiter(config.RateLimiter)
	}
	return config
}

// WrapTransport returns a transport that reports the requests which pass it, by verb, resource and the answer's status, and
// does nothing else to them. It can be given to rest.Config.Wrap, but WrapConfig sees more. A nil transport stands for
// http.DefaultTransport, and one that this Observer has wrapped already is not wrapped twice, also if others have wrapped
// it since that have the method WrappedRoundTripper, as client-go's own do. All transports of an Observer share their
// series, which stay as long as it does. It is safe for concurrent use if next is, and does not allocate once a request
// like it has been answered.
func (o *Observer) WrapTransport(next http.RoundTripper) http.RoundTripper {
	return o.wrapTransport(next, "")
}

func (o *Observer) wrapTransport(next http.RoundTripper, prefix string) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	if t, ok := next.(*transport); ok && t.obs == o {
		next, prefix = t.next, cmp.Or(prefix, t.prefix)
	}
	if o.seesThrough(next) {
		return next
	}
	return &transport{obs: o, next: next, prefix: prefix}
}

// seesThrough tells whether requests pass a transport of this Observer.
func (o *Observer) seesThrough(next http.RoundTripper) bool {
	for {
		if t, ok := next.(*transport); ok && t.obs == o {
			return true
		}
		outer, ok := next.(utilnet.RoundTripperWrapper)
		if !ok {
			return false
		}
		next = outer.WrappedRoundTripper()
	}
}

// transport decorates the way to the API server.
type transport struct {
	obs  *Observer
	next http.RoundTripper
	// prefix is what stands before /api and /apis in the paths of the server.
	prefix string
}

var _ utilnet.RoundTripperWrapper = &transport{}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked, query string
	if r.URL != nil { // else it is next that has to complain
		asked, query = strings.TrimPrefix(r.URL.Path, t.prefix), r.URL.RawQuery
	}
	request := apipath.Parse(r.Method, asked, query)
	begin := t.obs.now()
	response, err := t.next.RoundTrip(r)
	code := noAnswer
	if response != nil && err == nil {
		code = response.StatusCode
	}
	t.obs.requests.count(request, code, t.obs.now()-begin)
	return response, err
}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper, through which client-go finds the TLS configuration, the
// dialer, and who can cancel a request.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// CloseIdleConnections is what http.Client.CloseIdleConnections looks for.
func (t *transport) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(t.next) }
