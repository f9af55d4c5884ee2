package client

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/internal/bounded"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// connectTo returns a connection with a token to a server.
func connectTo(t *testing.T, handler http.HandlerFunc) *Connection {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	obs, _ := observertest.New(t)
	connection, err := Connect(&rest.Config{Host: server.URL, BearerToken: "secret"}, "test", func(c *rest.Config) *rest.Config {
		return apiclient.WrapConfig(obs, c, apiclient.Options{CompressedBytes: true}) // as the exporter does
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Disconnect)
	return connection
}

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// A redirect is an error: the other server would receive the token.
func TestRedirectsAreRefused(t *testing.T) {
	var followed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer elsewhere.Close()
	connection := connectTo(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	if _, err := connection.Metadata.Resource(pods).List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a redirect is not an error")
	}
	if _, err := connection.Metadata.Resource(pods).Watch(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a redirect of a watch is not an error")
	}
	if n := followed.Load(); n > 0 {
		t.Errorf("%d requests have followed a redirect", n)
	}
}

// canned is a transport that responds with this Retry-After header.
type canned string

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {string(c)}}, Body: http.NoBody}, nil
}

// client-go waits at most a minute before it retries.
func TestRetryAfterIsLimited(t *testing.T) {
	var wrap func(http.RoundTripper) http.RoundTripper
	connection, err := Connect(&rest.Config{Host: "http://127.0.0.1:1"}, "test", func(c *rest.Config) *rest.Config {
		wrap = c.WrapTransport
		return c
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.Disconnect)
	for sent, want := range map[string]string{
		"": "", "0": "0", "1": "1", "60": "60", "61": "60", "946080000": "60", "9223372036854775807": "60",
		"-1": "-1", "9223372036854775808": "9223372036854775808", "Wed, 21 Oct 2099 07:28:00 GMT": "Wed, 21 Oct 2099 07:28:00 GMT", // which client-go ignores
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:1/api/v1/pods", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := wrap(canned(sent)).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close() // it is empty
		if got := response.Header.Get("Retry-After"); got != want {
			t.Errorf("Retry-After: %s becomes %s, want %s", sent, got, want)
		}
	}
}

// A list that would exceed a quarter of the memory limit is an error. So is the next page of a list when the heap exceeds seven
// eighths of the limit.
func TestMemoryOfListsIsLimited(t *testing.T) {
	const limit = 192 << 20
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	debug.SetMemoryLimit(limit)
	connection := connectTo(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Has("continue") {
			_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[]}`)) // fails only if the client is gone
			return
		}
		_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{}` + strings.Repeat(",{}", limit/4/sizeOfItem) + "]}"))
	})
	objects := connection.Metadata.Resource(pods)
	if _, err := objects.List(t.Context(), metav1.ListOptions{}); !errors.Is(err, bounded.ErrTooLarge) {
		t.Errorf("a list of more than the limit: %v", err)
	}
	runtime.GC() // the last collection may have counted the first response
	if _, err := objects.List(t.Context(), metav1.ListOptions{Continue: "next"}); err != nil {
		t.Errorf("the next page of a list: %v", err)
	}
	runtime.GC()
	full := make([]byte, limit-limit/8-liveHeap()+1<<20)
	runtime.GC()
	if _, err := objects.List(t.Context(), metav1.ListOptions{Continue: "next"}); err == nil || !strings.Contains(err.Error(), "close to the memory limit") {
		t.Errorf("the next page of a list, with a full heap: %v", err)
	}
	runtime.KeepAlive(full)
}
