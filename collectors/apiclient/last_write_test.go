package apiclient_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/collectors/internal/ring"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The last write of an object is remembered by the name in the response, also of an object with a generated name, if the program watches
// the resource and the write changed something.
func TestLastWrite(t *testing.T) {
	const pods = "https://server/api/v1/namespaces/n/pods"
	for name, c := range map[string]struct {
		method, url, sent, answered string
		want                        uint64
	}{
		"create":      {http.MethodPost, pods, `{"metadata":{"generateName":"p"}}`, `{"metadata":{"name":"p","uid":"u","resourceVersion":"7"}}`, 7},
		"protobuf":    {http.MethodPut, pods + "/p", "", "k8s\x00\x0a\x04type\x12\x08\x0a\x06\x0a\x01p\x32\x017", 7},
		"name last":   {http.MethodPatch, pods + "/p/status", "{}", `{"metadata":{"resourceVersion":"7","name":"p"}}`, 0},
		"subresource": {http.MethodPatch, pods + "/p/status", "{}", `{"kind":"Pod","metadata":{"name":"p","resourceVersion":"7"}}`, 7},
		"unchanged":   {http.MethodPut, pods + "/p", `{"metadata":{"resourceVersion":"7"}}`, `{"metadata":{"name":"p","resourceVersion":"7"}}`, 0},
		"another":     {http.MethodPost, pods, "{}", `{"metadata":{"name":"q","resourceVersion":"7"}}`, 0},
		"not watched": {http.MethodPost, "https://server/api/v1/namespaces/n/secrets", "{}", `{"metadata":{"name":"p","resourceVersion":"7"}}`, 0},
	} {
		obs, _ := observertest.New(t)
		watches, resource := echo.Of(core.Of(obs)), schema.GroupResource{Resource: "pods"}
		watches.Add(resource, "", echo.New(ring.New(16)))
		transport := apiclient.WrapTransport(obs, fakeTransport(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(c.answered))}, nil
		}))
		request := must(http.NewRequestWithContext(t.Context(), c.method, c.url, strings.NewReader(c.sent)))(t)
		must(io.ReadAll(must(transport.RoundTrip(request))(t).Body))(t) //nolint:bodyclose // in memory
		if last, known := watches.LastWrite(resource, "n", "p"); known != (c.want != 0) || last.Version != c.want || known && last.Answered == 0 {
			t.Errorf("%s: %+v, %v, want %d", name, last, known, c.want)
		}
	}
}
