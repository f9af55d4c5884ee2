// Package apipath parses the method and URL of a request to a Kubernetes API server. It follows
// k8s.io/apiserver's RequestInfoFactory, without its dependencies and allocations. A test in test/e2e compares the two.
package apipath

import (
	"net/http"
	"net/url"
	"strings"
)

// Request is the verb and resource of a request. Its strings are substrings of the path, or constants.
type Request struct {
	// Verb is a value of the label verb of catalog.ClientRequests.
	Verb string
	// Group is the API group, empty for the core group.
	Group string
	// Resource is the plural name of the resource, empty for other paths, such as health and discovery.
	Resource string
	// Subresource is empty for the object itself.
	Subresource string
}

// Parse returns the verb and resource of a request. path must be decoded, and rawQuery encoded. Paths that do not begin with /api
// or /apis have no resource. Parse accepts any strings.
func Parse(method, path, rawQuery string) Request {
	request := Request{Verb: verb(method)}
	rest := strings.Trim(path, "/")
	root, rest, _ := strings.Cut(rest, "/")
	var group string
	switch root {
	case "api":
	case "apis":
		group, rest, _ = strings.Cut(rest, "/")
	default:
		return request
	}
	_, rest, found := strings.Cut(rest, "/") // the version
	if !found {
		return request
	}
	special, after, found := strings.Cut(rest, "/")
	switch {
	case special != "watch" && special != "proxy": // both deprecated, and proxy removed
		special = ""
	case !found:
		return request
	default:
		rest = after
	}
	request.Group = group
	var name string
	request.Resource, name, request.Subresource = resource(rest)
	switch {
	case request.Resource == "":
		return Request{Verb: request.Verb}
	case special == "watch":
		request.Verb = VerbWatch
	case special == "proxy":
		request.Verb, request.Subresource = VerbOther, ""
	case name != "":
	case request.Verb == VerbGet && watches(rawQuery):
		request.Verb = VerbWatch
	case request.Verb == VerbGet:
		request.Verb = VerbList
	case request.Verb == VerbDelete:
		request.Verb = VerbDeleteCollection
	}
	return request
}

// Namespace returns the namespace in the path of a resource, empty if there is none. Of a Namespace, it is the empty string.
func Namespace(path string) string {
	_, rest, found := strings.Cut(path, "/namespaces/")
	if !found {
		return ""
	}
	name, rest, _ := strings.Cut(rest, "/")
	if resource, _, _ := strings.Cut(rest, "/"); resource == "" || resource == "status" || resource == "finalize" {
		return ""
	}
	return name
}

// verb returns the verb of a method for a named object.
func verb(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, "": // the default of net/http
		return VerbGet
	case http.MethodPost:
		return VerbCreate
	case http.MethodPut:
		return VerbUpdate
	case http.MethodPatch:
		return VerbPatch
	case http.MethodDelete:
		return VerbDelete
	}
	return VerbOther
}

// resource splits the path after the version: [namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE[/...]]]. A resource follows
// the namespace, unless it is a subresource of namespaces.
func resource(path string) (resource, name, subresource string) {
	resource, path, _ = strings.Cut(path, "/")
	name, path, more := strings.Cut(path, "/")
	if resource == "namespaces" && more {
		if next, after, _ := strings.Cut(path, "/"); next != "status" && next != "finalize" {
			resource, path = next, after
			name, path, _ = strings.Cut(path, "/")
		}
	}
	subresource, _, _ = strings.Cut(path, "/")
	return resource, name, subresource
}

// watches reports whether the parameter watch of a query is true. As in the API server, all values except "0" and "false" are
// true.
func watches(rawQuery string) bool {
	value, found := parameter(rawQuery, "watch")
	return found && value != "0" && !strings.EqualFold(value, "false")
}

// Parameter returns a parameter of an encoded query, empty if it is missing.
func Parameter(rawQuery, name string) string {
	value, _ := parameter(rawQuery, name)
	return value
}

// parameter returns a parameter of a query. As in the API server, the first one counts. Like url.ParseQuery it ignores
// malformed parameters.
func parameter(rawQuery, name string) (value string, found bool) {
	for rawQuery != "" {
		var pair string
		pair, rawQuery, _ = strings.Cut(rawQuery, "&")
		key, value, _ := strings.Cut(pair, "=")
		if strings.Contains(pair, ";") {
			continue
		}
		key, err := url.QueryUnescape(key)
		if err != nil || key != name {
			continue
		}
		value, err = url.QueryUnescape(value)
		if err != nil {
			continue
		}
		return value, true
	}
	return "", false
}
