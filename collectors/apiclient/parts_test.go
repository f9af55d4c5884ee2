package apiclient_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// TestVersionsInProtobufAndAtTheLimit: the version of an object in protobuf is compared, and that of an object in JSON if it ends
// within the first 256 KiB.
func TestVersionsInProtobufAndAtTheLimit(t *testing.T) {
	protobuf := func(version string) string {
		return "k8s\x00\x0a\x04type\x12\x08\x0a\x06\x0a\x01p\x32\x01" + version // name and version
	}
	long := func(length int) string { // with a type that pads the message to the length
		const end = "\x12\x08\x0a\x06\x0a\x01p\x32\x017"
		n := length - len("k8s\x00\x0a\xf0\x0f") - len(end)
		return "k8s\x00\x0a" + string([]byte{byte(n&0x7f | 0x80), byte(n >> 7)}) + strings.Repeat("x", n) + end
	}
	ending := func(last int) string {
		const begin, end = `{"data":"`, `","metadata":{"resourceVersion":"7"`
		return begin + strings.Repeat("x", last-len(begin)-len(end)) + end + "}}"
	}
	const limit = 256 * 1024
	unchanged := metricstest.Snapshot{"k8s_client_unchanged_writes_total{resource=pods,subresource=status}": 1}
	for name, c := range map[string]struct {
		sent, answered string
		want           metricstest.Snapshot
	}{
		"protobuf":                           {protobuf("7"), protobuf("7"), unchanged},
		"changed protobuf":                   {protobuf("7"), protobuf("8"), metricstest.Snapshot{}},
		"protobuf at the limit":              {long(2048), long(2048), unchanged},
		"protobuf above the limit":           {long(2049), long(2049), metricstest.Snapshot{}},
		"protobuf that begins with a number": {"k8s\x00\x08\x00\x12\x08\x0a\x06\x0a\x01p\x32\x017", "k8s\x00\x08\x00\x12\x08\x0a\x06\x0a\x01p\x32\x017", metricstest.Snapshot{}},
		"at the limit":                       {ending(limit), ending(limit), unchanged},
		"above the limit":                    {ending(limit + 1), ending(limit + 1), metricstest.Snapshot{}},
	} {
		t.Run(name, func(t *testing.T) {
			obs, registry := observertest.New(t)
			transport := apiclient.WrapTransport(obs, fakeTransport(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Body: &inParts{Reader: strings.NewReader(c.answered)}}, nil
			}))
			request := must(http.NewRequestWithContext(t.Context(), http.MethodPut, "https://server/api/v1/namespaces/n/pods/p/status", strings.NewReader(c.sent)))(t)
			response := must(transport.RoundTrip(request))(t) //nolint:bodyclose // in memory
			must(io.ReadAll(response.Body))(t)
			metricstest.Take(t, registry).Family("k8s_client_unchanged_writes_total").Equal(t, c.want)
		})
	}
}

// TestVersionOfAnUnreadObject: a version is compared as soon as the caller has read it.
func TestVersionOfAnUnreadObject(t *testing.T) {
	const begin = `{"metadata":{"resourceVersion":"7"},"spec":"`
	obs, registry := observertest.New(t)
	transport := apiclient.WrapTransport(obs, fakeTransport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: &inParts{Reader: strings.NewReader(begin + strings.Repeat("x", 1<<20))}}, nil
	}))
	request := must(http.NewRequestWithContext(t.Context(), http.MethodPut, "https://server/api/v1/namespaces/n/pods/p", strings.NewReader(begin+`"}`)))(t)
	response := must(transport.RoundTrip(request))(t) //nolint:bodyclose // in memory
	must(io.ReadFull(response.Body, make([]byte, len(begin))))(t)
	metricstest.Take(t, registry).Family("k8s_client_unchanged_writes_total").Equal(t, metricstest.Snapshot{
		"k8s_client_unchanged_writes_total{resource=pods,subresource=}": 1,
	})
}

// inParts is a body that arrives in parts of 4 KiB.
type inParts struct{ *strings.Reader }

// Read implements io.Reader.
func (r *inParts) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 4096)]) }

// Close implements io.Closer.
func (*inParts) Close() error { return nil }

// TestReadsByVersion: lists and watches are counted by the version that they request, even if a transport below returns neither
// a response nor an error.
func TestReadsByVersion(t *testing.T) {
	for query, want := range map[string]string{
		"": "list unset", "resourceVersion=0": "list any", "resourceVersion=5": "list not_older_than",
		"resourceVersion=5&resourceVersionMatch=NotOlderThan": "list not_older_than", "resourceVersion=5&resourceVersionMatch=Exact": "list exact",
		"resourceVersion=5&continue=x": "list continue", "watch=true": "watch unset", "watch=true&resourceVersion=0": "watch any",
		"watch=true&resourceVersion=5": "watch exact", "watch=true&sendInitialEvents=true": "watch streaming",
	} {
		obs, registry := observertest.New(t)
		for _, next := range []fakeTransport{answering(http.StatusOK), func(*http.Request) (*http.Response, error) { return nil, nil }} { //nolint:nilnil // as above
			must(apiclient.WrapTransport(obs, next).RoundTrip(newRequest(t, http.MethodGet, "https://server/api/v1/pods?"+query)))(t) //nolint:bodyclose // in memory
		}
		verb, version, _ := strings.Cut(want, " ")
		metricstest.Take(t, registry).Family("k8s_client_reads_total").Equal(t, metricstest.Snapshot{
			"k8s_client_reads_total{resource=pods,resource_version=" + version + ",verb=" + verb + "}": 2,
		})
	}
}

// brokenTransport claims to wrap an *http.Transport, so that responses are decompressed, but returns its own responses.
type brokenTransport struct{ fakeTransport }

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (brokenTransport) WrappedRoundTripper() http.RoundTripper { return new(http.Transport) }

// TestBrokenTransportWithCompressedBytes: with CompressedBytes, an error or a missing response of a transport below is returned
// unchanged.
func TestBrokenTransportWithCompressedBytes(t *testing.T) {
	body := strings.NewReader("not read")
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		response *http.Response
		err      error
	}{
		"response and error":         {&http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Encoding": {"gzip"}}, Body: io.NopCloser(body)}, failed},
		"only error":                 {nil, failed},
		"neither response nor error": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			obs, _ := observertest.New(t)
			asked := ""
			config := &rest.Config{Host: "https://server", Transport: brokenTransport{func(r *http.Request) (*http.Response, error) {
				asked = r.Header.Get("Accept-Encoding")
				return c.response, c.err
			}}}
			transport := must(rest.TransportFor(apiclient.WrapConfig(obs, config, apiclient.Options{CompressedBytes: true})))(t)
			response, err := transport.RoundTrip(newRequest(t, http.MethodGet, "https://server/api/v1/pods")) //nolint:bodyclose // in memory
			if asked != "gzip" {
				t.Errorf("requested the encoding %q", asked)
			}
			if response != c.response || !errors.Is(err, c.err) {
				t.Errorf("got %v, %v, want %v, %v", response, err, c.response, c.err)
			}
			if response != nil && (response.Uncompressed || response.Header.Get("Content-Encoding") != "gzip") {
				t.Errorf("changed the response to %+v", response)
			}
		})
	}
}
