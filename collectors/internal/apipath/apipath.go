// Package apipath tells from the method and the URL of a request to a Kubernetes API server what it asks for, as the
// server itself does: these are the rules of k8s.io/apiserver's RequestInfoFactory, without its dependencies and without
// allocating. A test in test/e2e compares the two.
package apipath

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Request is what a request asks for. Its strings are parts of the path that it was made from, or constants.
type Request struct {
	// Verb is a value of catalog.LabelVerb.
	Verb string
	// Group is the API group, empty for the core group.
	Group string
	// Resource is the plural name of the resource, empty for paths of none, such as those of health and discovery.
	Resource string
	// Subresource is empty for the object itself.
	Subresource string
}

// Parse returns what a request asks for. The path is the decoded one, without what stands before /api or /apis; the query
// is encoded. It accepts anything.
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
	case special != "watch" && special != "proxy": // both deprecated, and the second one gone
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
		request.Verb = catalog.VerbWatch
	case special == "proxy":
		request.Verb, request.Subresource = catalog.VerbOther, ""
	case name != "":
	case request.Verb == catalog.VerbGet && watches(rawQuery):
		request.Verb = catalog.VerbWatch
	case request.Verb == catalog.VerbGet:
		request.Verb = catalog.VerbList
	case request.Verb == catalog.VerbDelete:
		request.Verb = catalog.VerbDeleteCollection
	}
	return request
}

// verb returns what a method means for an object that is named.
func verb(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, "": // as net/http takes it
		return catalog.VerbGet
	case http.MethodPost:
		return catalog.VerbCreate
	case http.MethodPut:
		return catalog.VerbUpdate
	case http.MethodPatch:
		return catalog.VerbPatch
	case http.MethodDelete:
		return catalog.VerbDelete
	}
	return catalog.VerbOther
}

// resource takes apart what follows the version: [namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE[/...]]]. What follows
// a namespace is a resource, unless it is a subresource of namespaces.
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

// watches tells whether a query has a parameter watch that is true, as the API server reads it: the first one counts, and
// all but "0" and "false" is true. Like url.ParseQuery it leaves out what is malformed.
func watches(rawQuery string) bool {
	for rawQuery != "" {
		var pair string
		pair, rawQuery, _ = strings.Cut(rawQuery, "&")
		key, value, _ := strings.Cut(pair, "=")
		if strings.Contains(pair, ";") {
			continue
		}
		key, err := url.QueryUnescape(key)
		if err != nil || key != "watch" {
			continue
		}
		value, err = url.QueryUnescape(value)
		if err != nil {
			continue
		}
		return value != "0" && !strings.EqualFold(value, "false")
	}
	return false
}
