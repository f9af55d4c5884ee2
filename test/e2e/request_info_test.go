package e2e_test

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// The parts of random paths and queries: all that are meaningful to the server, and some that are not.
var (
	pathSegments = []string{
		"api", "apis", "v1", "v1beta1", "apps", "example.com", "namespaces", "watch", "proxy", "pods", "deployments",
		"status", "finalize", "scale", "log", "name", "",
	}
	queries = []string{
		"", "watch", "watch=", "watch=true", "watch=1", "watch=0", "watch=False", "watch=false&watch=true", "w%61tch=%31",
		"watch=%zz", "watch=1;x", "limit=500", "limit=x", "limit=x&watch=1", "timeoutSeconds=1&watch=true", "sendInitialEvents=x&watch=false",
		"fieldSelector=metadata.name%3Dname", "fieldSelector=metadata.name%3Dname&watch=true", "fieldSelector=%3D%3D%3D&watch=true",
	}
	methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
)

// randomURL returns a URL that is likely to be meaningful to the server.
func randomURL(random *rand.Rand) *url.URL {
	segments := [][]string{nil, {"api", "v1"}, {"apis", "apps", "v1"}, {"apis", "example.com", "v1", "namespaces", "name"}}[random.IntN(4)]
	segments = slices.Clone(segments)
	for range random.IntN(7) {
		segments = append(segments, pathSegments[random.IntN(len(pathSegments))])
	}
	return &url.URL{
		Scheme: "https", Host: "server", Path: "/" + strings.Join(segments, "/"), RawQuery: queries[random.IntN(len(queries))],
	}
}

// expected returns the values of the labels verb, resource and subresource according to the API server's own parser.
func expected(t *testing.T, factory *apirequest.RequestInfoFactory, r *http.Request) [3]string {
	t.Helper()
	info, err := factory.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest || info.Resource == "" {
		verb := map[string]string{"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[r.Method]
		if verb == "" {
			verb = "other"
		}
		return [3]string{verb, "non-resource", ""}
	}
	verb, subresource := info.Verb, info.Subresource
	if !slices.Contains(catalog.ClientRequests.Values("verb"), verb) {
		verb = "other"
	}
	if subresource != "" && !slices.Contains(catalog.ClientRequests.Values("subresource"), subresource) {
		subresource = "other"
	}
	return [3]string{verb, schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}.String(), subresource}
}

// counted returns the number of counted requests by the same three labels.
func counted(t *testing.T, registry prometheus.Gatherer) map[[3]string]int {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[[3]string]int{}
	for _, f := range families {
		if f.GetName() != catalog.ClientRequests.Name {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			found[[3]string{labels["verb"], labels["resource"], labels["subresource"]}] += int(m.GetCounter().GetValue())
		}
	}
	return found
}

// TestRequestsAreReadAsTheServerDoes covers S17: the library and the API server's own code parse 100,000 random requests in
// the same way. The seed is fixed.
func TestRequestsAreReadAsTheServerDoes(t *testing.T) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // the server's code logs invalid queries
	t.Cleanup(klog.ClearLogger)
	factory := &apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		registry := prometheus.NewPedanticRegistry()
		obs, err := collectors.New(registry, collectors.Options{Name: "test"})
		if err != nil {
			t.Fatal(err)
		}
		transport := apiclient.WrapTransport(obs, answered{})
		want, example := map[[3]string]int{}, map[[3]string]string{}
		for range 100 {
			r := &http.Request{Method: methods[random.IntN(len(methods))], URL: randomURL(random)}
			labels := expected(t, factory, r)
			want[labels]++
			example[labels] = r.Method + " " + r.URL.String()
			if _, err := transport.RoundTrip(r); err != nil { //nolint:bodyclose // there is none
				t.Fatal(err)
			}
		}
		got := counted(t, registry)
		for labels, n := range want {
			if got[labels] != n {
				t.Errorf("%d requests like %s are %q to the server, and %d to the library", n, example[labels], labels, got[labels])
			}
		}
		for labels, n := range got {
			if want[labels] == 0 {
				t.Errorf("%d requests are %q to the library only", n, labels)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// answered is a transport that responds without a server.
type answered struct{}

func (answered) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}
