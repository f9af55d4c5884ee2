package apipath

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var requests = []struct {
	method, path, query string
	want                Request
}{
	{"GET", "/api/v1/pods", "", Request{"list", "", "pods", ""}},
	{"GET", "/api/v1/pods/", "", Request{"list", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods", "limit=500", Request{"list", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods", "limit=500&watch=true", Request{"watch", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods", "watch=false", Request{"list", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods", "watch=0&watch=1", Request{"list", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods", "watch", Request{"watch", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods", "w%61tch=%31", Request{"watch", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods", "watch=%zz&%zz=1&watch=1;watch", Request{"list", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods", "fieldSelector=metadata.name%3Dp&watch=1", Request{"watch", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods/p", "", Request{"get", "", "pods", ""}},
	{"", "/api/v1/namespaces/n/pods/p", "", Request{"get", "", "pods", ""}},
	{"HEAD", "/api/v1/namespaces/n/pods/p", "", Request{"get", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods/p", "watch=true", Request{"get", "", "pods", ""}},
	{"GET", "/api/v1/namespaces/n/pods/p/log", "follow=true", Request{"get", "", "pods", "log"}},
	{"POST", "/api/v1/namespaces/n/pods/p/exec", "", Request{"create", "", "pods", "exec"}},
	{"GET", "/api/v1/namespaces/n/services/s/proxy/api/v1/pods", "watch=1", Request{"get", "", "services", "proxy"}},
	{"POST", "/api/v1/namespaces/n/pods", "", Request{"create", "", "pods", ""}},
	{"PUT", "/apis/apps/v1/namespaces/n/deployments/d", "", Request{"update", "apps", "deployments", ""}},
	{"PUT", "/apis/apps/v1/namespaces/n/deployments/d/status", "", Request{"update", "apps", "deployments", "status"}},
	{"PATCH", "/apis/apps/v1/namespaces/n/deployments/d/scale", "", Request{"patch", "apps", "deployments", "scale"}},
	{"DELETE", "/apis/apps/v1/namespaces/n/deployments/d", "", Request{"delete", "apps", "deployments", ""}},
	{"DELETE", "/apis/apps/v1/namespaces/n/deployments", "", Request{"deletecollection", "apps", "deployments", ""}},
	{"OPTIONS", "/apis/apps/v1/deployments", "", Request{"other", "apps", "deployments", ""}},
	{"GET", "/api/v1/namespaces", "", Request{"list", "", "namespaces", ""}},
	{"GET", "/api/v1/namespaces/n", "", Request{"get", "", "namespaces", ""}},
	{"PUT", "/api/v1/namespaces/n/status", "", Request{"update", "", "namespaces", "status"}},
	{"PUT", "/api/v1/namespaces/n/finalize", "", Request{"update", "", "namespaces", "finalize"}},
	{"GET", "/api/v1/namespaces/status", "", Request{"get", "", "namespaces", ""}},
	{"GET", "/apis/example.com/v1/namespaces/n/namespaces/x/y", "", Request{"get", "example.com", "namespaces", "y"}},
	{"GET", "/api/v1/watch/namespaces/n/pods/p", "", Request{"watch", "", "pods", ""}},
	{"GET", "/apis/apps/v1/watch/deployments", "", Request{"watch", "apps", "deployments", ""}},
	{"GET", "/api/v1/proxy/namespaces/n/pods/p/x", "", Request{"other", "", "pods", ""}},
	// Paths without a resource.
	{"GET", "", "", Request{Verb: "get"}},
	{"GET", "/", "watch=1", Request{Verb: "get"}},
	{"GET", "/version", "", Request{Verb: "get"}},
	{"GET", "/openapi/v3/apis/apps/v1", "", Request{Verb: "get"}},
	{"GET", "/api/v1", "", Request{Verb: "get"}},
	{"GET", "/apis/apps", "", Request{Verb: "get"}},
	{"GET", "/apis/apps/v1", "", Request{Verb: "get"}},
	{"GET", "/api/v1/watch", "", Request{Verb: "get"}},
	{"POST", "/api/v1//pods", "", Request{Verb: "create"}},
	{"GET", "/k8s/clusters/c-1/api/v1/pods", "", Request{Verb: "get"}},
}

func TestParse(t *testing.T) {
	for _, r := range requests {
		if got := Parse(r.method, r.path, r.query); got != r.want {
			t.Errorf("%s %s?%s is %+v, want %+v", r.method, r.path, r.query, got, r.want)
		}
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	if allocs := testing.AllocsPerRun(100, func() {
		for _, r := range requests {
			if !strings.Contains(r.query, "%") { // needs decoding
				Parse(r.method, r.path, r.query)
			}
		}
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// Parse must return the same as splitting the path and the query.
func FuzzParse(f *testing.F) {
	for _, r := range requests {
		f.Add(r.method, r.path, r.query)
	}
	f.Fuzz(func(t *testing.T, method, path, query string) {
		got := Parse(method, path, query)
		if !slices.Contains(catalog.ClientRequests.Values("verb"), got.Verb) {
			t.Errorf("unknown verb in %+v", got)
		}
		if want := slowly(method, path, query); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// slowly returns the same as Parse, with allocations.
func slowly(method, path, query string) Request {
	none := Request{Verb: map[string]string{
		"": "get", http.MethodGet: "get", http.MethodHead: "get", http.MethodPost: "create", http.MethodPut: "update",
		http.MethodPatch: "patch", http.MethodDelete: "delete",
	}[method]}
	if none.Verb == "" {
		none.Verb = "other"
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	r := none
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		r.Group, parts = parts[1], parts[3:]
	default:
		return none
	}
	special := ""
	if parts[0] == "watch" || parts[0] == "proxy" {
		if len(parts) == 1 {
			return none
		}
		special, parts = parts[0], parts[1:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	parts = append(parts, "", "") // a name and a subresource
	r.Resource, r.Subresource = parts[0], parts[2]
	if r.Resource == "" {
		return none
	}
	values, _ := url.ParseQuery(query)
	watch := len(values["watch"]) > 0 && values["watch"][0] != "0" && !strings.EqualFold(values["watch"][0], "false")
	switch named := parts[1] != ""; {
	case special == "watch", special == "" && !named && r.Verb == "get" && watch:
		r.Verb = "watch"
	case special == "proxy":
		r.Verb, r.Subresource = "other", ""
	case !named && r.Verb == "get":
		r.Verb = "list"
	case !named && r.Verb == "delete":
		r.Verb = "deletecollection"
	}
	return r
}

func TestNamespace(t *testing.T) {
	for path, want := range map[string]string{
		"/api/v1/namespaces/n/pods":                       "n",
		"/apis/apps/v1/namespaces/n/deployments/d/status": "n",
		"/apis/example.com/v1/namespaces/n/namespaces/x":  "n",
		"/api/v1/nodes/n":                                 "",
		"/api/v1/namespaces":                              "",
		"/api/v1/namespaces/n":                            "",
		"/api/v1/namespaces/n/":                           "",
		"/api/v1/namespaces/n/status":                     "",
		"/api/v1/namespaces/n/finalize":                   "",
		"/apis/example.com/v1/widgets/w":                  "",
		"":                                                "",
	} {
		if got := Namespace(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
