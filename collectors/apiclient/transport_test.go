package apiclient_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/spantest"
)

// fakeTransport responds to requests without a network.
type fakeTransport func(*http.Request) (*http.Response, error)

func (f fakeTransport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering responds to all requests with one status.
func answering(code int) fakeTransport {
	response := &http.Response{StatusCode: code, Body: http.NoBody}
	return func(*http.Request) (*http.Response, error) { return response, nil }
}

func newRequest(t testing.TB, method, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sendRequest sends a request and discards the response.
func sendRequest(t testing.TB, transport http.RoundTripper, method, url string) {
	t.Helper()
	response, err := transport.RoundTrip(newRequest(t, method, url))
	if err == nil {
		_ = response.Body.Close()
	}
}

// TestTransportChangesNothing: requests, responses and errors pass as the same objects.
func TestTransportChangesNothing(t *testing.T) {
	obs, reg := observertest.New(t)
	sent := newRequest(t, http.MethodPut, "https://server/api/v1/namespaces/n/pods/p")
	body, header := sent.Body, sent.Header.Clone()
	answer, failure := &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, errors.New("network")
	for _, want := range []struct {
		answer *http.Response
		err    error
	}{{answer, nil}, {nil, failure}, {answer, failure}, {nil, nil}} {
		got, err := apiclient.WrapTransport(obs, fakeTransport(func(r *http.Request) (*http.Response, error) {
			if r != sent || r.Body != body || r.Context() != sent.Context() || len(r.Header) != len(header) {
				t.Error("another request was passed on")
			}
			return want.answer, want.err
		})).RoundTrip(sent) //nolint:bodyclose // the response has none
		if got != want.answer || err != want.err { //nolint:errorlint // the same object
			t.Errorf("got %v, %v; want %v, %v", got, err, want.answer, want.err)
		}
	}
	metricstest.Take(t, reg).Family("k8s_client_requests_total").Equal(t, metricstest.Snapshot{
		"k8s_client_requests_total{code=200,resource=pods,subresource=,verb=update}":   1,
		"k8s_client_requests_total{code=error,resource=pods,subresource=,verb=update}": 3,
	})
}

// TestTransportDoesNotInterfere: errors about invalid requests and panics are those of the decorated transport.
func TestTransportDoesNotInterfere(t *testing.T) {
	obs, reg := observertest.New(t)
	if _, err := apiclient.WrapTransport(obs, nil).RoundTrip(&http.Request{Body: http.NoBody}); err == nil { //nolint:bodyclose // the response has none
		t.Error("a request without a URL got a response")
	}
	panicking := apiclient.WrapTransport(obs, fakeTransport(func(*http.Request) (*http.Response, error) { panic("broken") }))
	func() {
		defer func() {
			if recover() != "broken" {
				t.Error("the panic was swallowed")
			}
		}()
		sendRequest(t, panicking, http.MethodGet, "https://server/api/v1/pods")
	}()
	metricstest.Take(t, reg).Family("k8s_client_requests_total").Equal(t, metricstest.Snapshot{
		"k8s_client_requests_total{code=error,resource=non-resource,subresource=,verb=get}": 1,
	})
}

func TestTransportCounts(t *testing.T) {
	obs, reg := observertest.New(t)
	if s := metricstest.Take(t, reg); len(s) != 0 {
		t.Errorf("before any request:\n%s", s)
	}
	ok, conflict := apiclient.WrapTransport(obs, answering(http.StatusOK)), apiclient.WrapTransport(obs, answering(http.StatusConflict))
	sendRequest(t, ok, http.MethodGet, "https://server/api/v1/pods?watch=1")
	sendRequest(t, conflict, http.MethodGet, "https://server/api/v1/pods?watch=1")             // not a write
	sendRequest(t, conflict, http.MethodPost, "https://server/api/v1/namespaces/n/configmaps") // already exists
	sendRequest(t, conflict, http.MethodPost, "https://server/api/v1/namespaces/n/pods/p/binding")
	sendRequest(t, ok, http.MethodPut, "https://server/apis/apps/v1/namespaces/n/deployments/d")
	sendRequest(t, ok, http.MethodPut, "https://server/apis/apps/v1/namespaces/n/deployments/d/status")
	sendRequest(t, conflict, http.MethodPut, "https://server/apis/apps/v1/namespaces/n/deployments/d/status")
	sendRequest(t, apiclient.WrapTransport(obs, answering(http.StatusTooManyRequests)), http.MethodPost, "https://server/api/v1/namespaces/n/pods/p/eviction")
	sendRequest(t, ok, http.MethodGet, "https://server/apis/custom.metrics.k8s.io/v1beta1/namespaces/n/pods/%2A/http_requests")
	metricstest.Take(t, reg).Counts().Equal(t, metricstest.Snapshot{
		"k8s_client_requests_total{code=200,resource=pods,subresource=,verb=watch}":                          1,
		"k8s_client_requests_total{code=409,resource=pods,subresource=,verb=watch}":                          1,
		"k8s_client_requests_total{code=200,resource=deployments.apps,subresource=,verb=update}":             1,
		"k8s_client_requests_total{code=200,resource=deployments.apps,subresource=status,verb=update}":       1,
		"k8s_client_requests_total{code=409,resource=deployments.apps,subresource=status,verb=update}":       1,
		"k8s_client_requests_total{code=200,resource=pods.custom.metrics.k8s.io,subresource=other,verb=get}": 1,
		"k8s_client_reads_total{resource=pods,resource_version=unset,verb=watch}":                            2,
		"k8s_client_request_duration_seconds_count{verb=watch}":                                              2,
		"k8s_client_request_duration_seconds_count{verb=update}":                                             3,
		"k8s_client_request_duration_seconds_count{verb=get}":                                                1,
		"k8s_client_requests_total{code=429,resource=pods,subresource=eviction,verb=create}":                 1,
		"k8s_client_request_duration_seconds_count{verb=create}":                                             3,
		"k8s_client_requests_total{code=409,resource=configmaps,subresource=,verb=create}":                   1,
		"k8s_client_requests_total{code=409,resource=pods,subresource=binding,verb=create}":                  1,
		"k8s_client_conflicts_total{resource=pods,subresource=binding}":                                      1,
		"k8s_client_conflicts_total{resource=pods,subresource=eviction}":                                     0,
		"k8s_client_conflicts_total{resource=deployments.apps,subresource=}":                                 0,
		"k8s_client_conflicts_total{resource=deployments.apps,subresource=status}":                           1,
	})
}

// TestTransportLimitsResources: the number of series is bounded for any requests, and no URL breaks the caller.
func TestTransportLimitsResources(t *testing.T) {
	const limit = 40
	obs, reg := observertest.New(t, func(o *collectors.Options) { o.Limits.Resources = limit })
	transport := apiclient.WrapTransport(obs, answering(http.StatusOK))
	ask := func(from, to int) {
		for n := from; n < to; n++ {
			sendRequest(t, transport, http.MethodGet, fmt.Sprintf("https://server/apis/example.com/v1/resources%d", n))
		}
	}
	const (
		other    = "k8s_client_requests_total{code=200,resource=other,subresource=,verb=list}"
		overflow = "k8s_informer_label_overflow_total{label=resource}"
	)
	ask(0, limit+10)
	ask(limit, limit+10)
	snapshot := metricstest.Take(t, reg)
	if s := snapshot.Family("k8s_client_requests_total"); len(s) != limit+1 || s[other] != 20 {
		t.Errorf("%d series, %v requests of others", len(s), s[other])
	}
	if n := snapshot[overflow]; n != 10 {
		t.Errorf("%v overflows, want 10", n)
	}
	for _, odd := range []string{"%ff%fe", "Pods", "queue_length", strings.Repeat("x", 1000)} {
		sendRequest(t, transport, http.MethodGet, "https://server/api/v1/"+odd)
		sendRequest(t, transport, http.MethodGet, "https://server/apis/"+odd+"/v1/things")
	}
	if s := metricstest.Take(t, reg).Family("k8s_client_requests_total"); len(s) != limit+1 || s[other] != 28 {
		t.Errorf("%d series, %v requests of others", len(s), s[other])
	}
	ask(limit, 3*limit)
	snapshot = metricstest.Take(t, reg)
	if n := snapshot[other]; n != 28+2*limit {
		t.Errorf("%v requests of others", n)
	}
	// Invalid names are remembered within the limit for others, and do not count as overflow. Beyond the limit, nothing is
	// remembered.
	const invalid = 8
	if n := snapshot[overflow]; n != limit-invalid {
		t.Errorf("%v overflows, want %d", n, limit-invalid)
	}
	var unknown []*http.Request
	for n := range 11 { // AllocsPerRun warms up with one more
		unknown = append(unknown, newRequest(t, http.MethodGet, fmt.Sprintf("https://server/apis/example.com/v1/unknown%d", n)))
	}
	if n := testing.AllocsPerRun(10, func() {
		_, _ = transport.RoundTrip(unknown[0]) //nolint:bodyclose // the response has none
		unknown = unknown[1:]
	}); n > 0 {
		t.Errorf("%v allocations for a resource beyond those that are remembered", n)
	}
}

// TestInvalidResourcesLeaveRoom: names that cannot be resources do not use up the limit for those that can, regardless of
// their number.
func TestInvalidResourcesLeaveRoom(t *testing.T) {
	const limit = 3
	obs, reg := observertest.New(t, func(o *collectors.Options) { o.Limits.Resources = limit })
	transport := apiclient.WrapTransport(obs, answering(http.StatusOK))
	for n := range 4 * limit {
		sendRequest(t, transport, http.MethodGet, fmt.Sprintf("https://server/api/v1/Invalid_%d", n))
	}
	for n := range limit {
		sendRequest(t, transport, http.MethodGet, fmt.Sprintf("https://server/api/v1/valid%d", n))
	}
	want := metricstest.Snapshot{"k8s_client_requests_total{code=200,resource=other,subresource=,verb=list}": 4 * limit}
	for n := range limit {
		want[fmt.Sprintf("k8s_client_requests_total{code=200,resource=valid%d,subresource=,verb=list}", n)] = 1
	}
	metricstest.Take(t, reg).Family("k8s_client_requests_total").Equal(t, want)
}

// TestTransportBehindAPath: WrapConfig strips the path in the host, and nothing else.
func TestTransportBehindAPath(t *testing.T) {
	for host, path := range map[string]string{
		"https://server":                        "/api/v1/pods",
		"server:6443":                           "/api/v1/pods",
		"https://server/k8s/clusters/c-1":       "/k8s/clusters/c-1/api/v1/pods",
		"https://server/k8s//clusters/c-1/":     "/k8s/clusters/c-1/api/v1/pods",
		"https://server/apis/x.io/v1/a/b/proxy": "/apis/x.io/v1/a/b/proxy/api/v1/pods",
		"https://server/api":                    "/api/api/v1/pods",
		"https://server/k":                      "/api/v1/pods",
	} {
		obs, reg := observertest.New(t)
		config := &rest.Config{Host: host}
		wrapped := apiclient.WrapConfig(obs, apiclient.WrapConfig(obs, config, apiclient.Options{}), apiclient.Options{}) // wrapped twice, counted once
		wrapped.Wrap(func(next http.RoundTripper) http.RoundTripper { return apiclient.WrapTransport(obs, next) })
		wrapped.Wrap(func(next http.RoundTripper) http.RoundTripper { return fakeWrapper{next} })
		wrapped = apiclient.WrapConfig(obs, wrapped, apiclient.Options{})
		transport := wrapped.WrapTransport(answering(http.StatusOK))
		sendRequest(t, transport, http.MethodGet, "https://server"+path)
		const want = "k8s_client_requests_total{code=200,resource=pods,subresource=,verb=list}"
		if s := metricstest.Take(t, reg); s[want] != 1 {
			t.Errorf("%s, %s:\n%s", host, path, s)
		}
		if config.WrapTransport != nil {
			t.Error("the caller's configuration was changed")
		}
	}
}

type idleCloser struct {
	http.RoundTripper
	closed int
}

func (c *idleCloser) CloseIdleConnections() { c.closed++ }

// fakeWrapper is one of client-go's wrappers, which do not close idle connections themselves.
type fakeWrapper struct{ http.RoundTripper }

func (w fakeWrapper) WrappedRoundTripper() http.RoundTripper { return w.RoundTripper }

// TestTransportForwards: client-go and net/http find the capabilities of the decorated transport.
func TestTransportForwards(t *testing.T) {
	obs, _ := observertest.New(t)
	closer := &idleCloser{RoundTripper: answering(http.StatusOK)}
	(&http.Client{Transport: apiclient.WrapTransport(obs, closer)}).CloseIdleConnections()
	utilnet.CloseIdleConnectionsFor(fakeWrapper{apiclient.WrapTransport(obs, fakeWrapper{closer})})
	if closer.closed != 2 {
		t.Errorf("closed %d times, want 2", closer.closed)
	}
	plain := &http.Transport{TLSClientConfig: &tls.Config{ServerName: "server", MinVersion: tls.VersionTLS13}}
	if got, err := utilnet.TLSClientConfig(apiclient.WrapTransport(obs, plain)); err != nil || got != plain.TLSClientConfig {
		t.Errorf("the TLS configuration is %v, %v", got, err)
	}
	if w, ok := apiclient.WrapTransport(obs, plain).(utilnet.RoundTripperWrapper); !ok || w.WrappedRoundTripper() != plain {
		t.Error("the wrapped transport is not found")
	}
}

func TestTransportDoesNotAllocate(t *testing.T) {
	obs, _ := observertest.New(t)
	transport := apiclient.WrapTransport(obs, answering(http.StatusConflict))
	requests := []*http.Request{
		newRequest(t, http.MethodPut, "https://server/apis/apps/v1/namespaces/n/deployments/d/status"),
		newRequest(t, http.MethodGet, "https://server/healthz"),
	}
	if allocs := testing.AllocsPerRun(100, func() {
		for _, r := range requests {
			_, _ = transport.RoundTrip(r) //nolint:bodyclose // the response has none
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	watch := newRequest(t, http.MethodGet, "https://server/api/v1/namespaces/n/pods?allowWatchBookmarks=true&watch=true")
	if allocs := testing.AllocsPerRun(100, func() { _, _ = transport.RoundTrip(watch) }); allocs > 1 { //nolint:bodyclose // as above
		t.Errorf("%v allocations for a watch", allocs)
	}
}

func TestTransportInParallel(t *testing.T) {
	obs, reg := observertest.New(t)
	var workers sync.WaitGroup
	for range 4 {
		transport := apiclient.WrapTransport(obs, answering(http.StatusOK))
		workers.Go(func() {
			for n := range 500 {
				sendRequest(t, transport, http.MethodPut, fmt.Sprintf("https://server/apis/example.com/v1/resources%d/x", n%50))
			}
		})
		workers.Go(func() { metricstest.Take(t, reg) })
	}
	workers.Wait()
	s := metricstest.Take(t, reg).Family("k8s_client_requests_total")
	if len(s) != 50 || s.Sum() != 2000 {
		t.Errorf("%d series with %v requests", len(s), s.Sum())
	}
}

// hesitantLimiter makes all callers wait.
type hesitantLimiter struct {
	wait  time.Duration
	err   error
	tries int
}

func (l *hesitantLimiter) Wait(context.Context) error { time.Sleep(l.wait); return l.err }
func (l *hesitantLimiter) Accept()                    { time.Sleep(l.wait) }
func (l *hesitantLimiter) TryAccept() bool            { l.tries++; return true }
func (l *hesitantLimiter) Stop()                      {}
func (l *hesitantLimiter) QPS() float32               { return 7 }

func TestRateLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		limiter := &hesitantLimiter{wait: 2 * time.Second, err: errors.New("gave up")}
		decorated := apiclient.WrapConfig(obs, apiclient.WrapConfig(obs, &rest.Config{RateLimiter: limiter}, apiclient.Options{}), apiclient.Options{}).RateLimiter
		metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{"k8s_client_throttle_wait_seconds_count": 0, "k8s_client_throttle_wait_seconds_sum": 0})
		if err := decorated.Wait(t.Context()); err != limiter.err { //nolint:errorlint // the same object
			t.Error(err)
		}
		decorated.Accept()
		if !decorated.TryAccept() || limiter.tries != 1 || decorated.QPS() != 7 {
			t.Error("not passed on")
		}
		metricstest.Take(t, reg).Equal(t, metricstest.Snapshot{"k8s_client_throttle_wait_seconds_count": 2, "k8s_client_throttle_wait_seconds_sum": 4})
	})
}

// Start of a Tracer that implements spans.Sampler is called only for requests with a recorded span in their context.
func TestRequestWithoutParent(t *testing.T) {
	tracer := &spantest.Sampler{}
	obs, _ := observertest.New(t, func(o *collectors.Options) { o.Tracer = tracer })
	transport := apiclient.WrapTransport(obs, answering(http.StatusOK))
	parent := tracer.Start(t.Context(), spans.Operation{Kind: spans.Reconcile})
	for _, ctx := range []context.Context{t.Context(), parent.Context(t.Context())} {
		_, _ = transport.RoundTrip(newRequest(t, http.MethodGet, "http://server/api/v1/pods").WithContext(ctx)) //nolint:bodyclose // the response has none
	}
	if all := tracer.Ended(spans.Request); len(all) != 1 || all[0].Parent != parent.SpanContext() {
		t.Errorf("got %+v, want one span with a parent", all)
	}
}

// Spans have the same resources and subresources as metrics.
func TestSubresourceOfSpans(t *testing.T) {
	tracer := &spantest.Tracer{}
	obs, _ := observertest.New(t, func(o *collectors.Options) { o.Tracer = tracer })
	transport := apiclient.WrapTransport(obs, answering(http.StatusOK))
	parent := tracer.Start(t.Context(), spans.Operation{Kind: spans.Reconcile})
	for _, path := range []string{"pods/a", "pods/a/status", "pods/a/unheard-of"} {
		request := newRequest(t, http.MethodGet, "http://server/api/v1/namespaces/default/"+path)
		_, _ = transport.RoundTrip(request.WithContext(parent.Context(t.Context()))) //nolint:bodyclose // the response has none
	}
	var got []string
	for _, s := range tracer.Ended(spans.Request) {
		got = append(got, s.Name+"/"+s.Subresource)
	}
	if want := []string{"pods/", "pods/status", "pods/other"}; !slices.Equal(got, want) {
		t.Errorf("spans of %v, want %v", got, want)
	}
	failing := apiclient.WrapTransport(obs, answering(http.StatusConflict))
	request := newRequest(t, http.MethodPut, "http://server/api/v1/namespaces/default/pods/a")
	_, _ = failing.RoundTrip(request.WithContext(parent.Context(t.Context()))) //nolint:bodyclose // the response has none
	if all := tracer.Ended(spans.Request); len(all) != 4 || !all[3].Failed || all[3].ErrorType != "409" || all[0].Failed {
		t.Errorf("got %+v, want three successful spans and one that failed with 409", all)
	}
}

// The duration of a request is the time until the response.
func TestDurationOfARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		time.Sleep(time.Hour) // the age of the Observer must not count
		transport := apiclient.WrapTransport(obs, slowly{answering(http.StatusOK)})
		_, _ = transport.RoundTrip(newRequest(t, http.MethodGet, "http://server/api/v1/pods")) //nolint:bodyclose // the response has none
		if s := metricstest.Take(t, reg); s["k8s_client_request_duration_seconds_sum{verb=list}"] != 2 {
			t.Errorf("want a list of two seconds, got\n%s", s)
		}
	})
}

// slowly is a transport that takes two seconds.
type slowly struct{ http.RoundTripper }

func (s slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(2 * time.Second)
	return s.RoundTripper.RoundTrip(r)
}
