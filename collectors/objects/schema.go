package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Schemas finds resources with status.observedGeneration in the OpenAPI v3 documents of the API server. Each document is
// requested again only if it changes. It is safe for concurrent use.
type Schemas struct {
	documents documents

	mu       sync.Mutex // held during requests: documents are large, and one at a time is enough
	failure  error      // of the last request, nil if it succeeded
	failed   time.Time
	index    map[string]string // addresses of documents
	indexed  time.Time
	observed map[string]map[string]bool // resources by the URL of the document, which contains its hash
}

// ErrUndescribed means that the API server has no OpenAPI document for a group and version. It has one for a new
// CustomResourceDefinition after some seconds, and may have none for an aggregated API.
var ErrUndescribed = errors.New("the API server has no OpenAPI document")

const (
	// indexAge is the time after which the list of documents is requested again. A list that lacks a document is requested
	// again immediately.
	indexAge = time.Minute
	// requestTimeout is the timeout of a request.
	requestTimeout = 10 * time.Second
	// retryAfter is the time after a failure without requests, so that only one caller waits for a server that does not
	// respond.
	retryAfter = 30 * time.Second
)

// NewSchemas returns Schemas that use the given client, such as RESTClient of a discovery.DiscoveryClient.
func NewSchemas(client rest.Interface) *Schemas { return newSchemas(served{client}) }

func newSchemas(d documents) *Schemas {
	return &Schemas{documents: d, observed: map[string]map[string]bool{}}
}

// Observed reports whether a resource has status.observedGeneration. With an error it returns the answer for the API of
// Kubernetes itself. The end of ctx does not cancel a request that has started. For Secrets and ConfigMaps it always returns
// false, because they must never be read as a whole.
func (s *Schemas) Observed(ctx context.Context, r schema.GroupVersionResource) (bool, error) {
	if r.Group == "" && (r.Resource == "secrets" || r.Resource == "configmaps") {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	described, err := s.describe(ctx, r.GroupVersion())
	if err != nil {
		return observedByDefault[r.GroupResource()], fmt.Errorf("OpenAPI document of %s: %w", r.GroupVersion(), err)
	}
	return described[r.Resource], nil
}

// observedByDefault are the resources of Kubernetes with the field in all supported versions.
var observedByDefault = map[schema.GroupResource]bool{
	{Resource: "replicationcontrollers"}:                                             true,
	{Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies"}: true,
	{Group: "apps", Resource: "daemonsets"}:                                          true,
	{Group: "apps", Resource: "deployments"}:                                         true,
	{Group: "apps", Resource: "replicasets"}:                                         true,
	{Group: "apps", Resource: "statefulsets"}:                                        true,
	{Group: "autoscaling", Resource: "horizontalpodautoscalers"}:                     true,
	{Group: "policy", Resource: "poddisruptionbudgets"}:                              true,
}

// describe returns the resources of a group and version with the field.
func (s *Schemas) describe(ctx context.Context, gv schema.GroupVersion) (map[string]bool, error) {
	if s.failure != nil && time.Since(s.failed) < retryAfter {
		return nil, s.failure
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // canceled while waiting for another request
	}
	// All callers share the response, so that a canceled caller must not cancel the request.
	request, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	observed, err := s.ask(request, gv)
	s.failure, s.failed = nil, time.Now()
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrUndescribed) { // ErrUndescribed is an answer
		s.failure = err
	}
	return observed, err
}

func (s *Schemas) ask(ctx context.Context, gv schema.GroupVersion) (map[string]bool, error) {
	name := path.Join("apis", gv.String())
	if gv.Group == "" {
		name = path.Join("api", gv.Version)
	}
	if s.index[name] == "" || time.Since(s.indexed) > indexAge {
		index, err := s.documents.index(ctx)
		if err != nil {
			return nil, err
		}
		s.index, s.indexed = index, time.Now()
	}
	address := s.index[name]
	if address == "" {
		return nil, ErrUndescribed
	}
	if observed, ok := s.observed[address]; ok {
		return observed, nil
	}
	document, err := s.documents.get(ctx, address)
	if err != nil {
		return nil, err
	}
	observed, err := observedIn(document)
	if err == nil {
		s.forget(address)
		s.observed[address] = observed
	}
	return observed, err
}

// forget removes the resources of an older document of the same group and version.
func (s *Schemas) forget(address string) {
	route, _, _ := strings.Cut(address, "?")
	for old := range s.observed {
		if before, _, _ := strings.Cut(old, "?"); before == route {
			delete(s.observed, old)
		}
	}
}

// document is the part of an OpenAPI document that is decoded.
type document struct {
	Paths map[string]struct {
		Get struct {
			Action string                  `json:"x-kubernetes-action"`
			Kind   schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
		} `json:"get"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]component `json:"schemas"`
	} `json:"components"`
}

type component struct {
	Kinds      []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
	Properties struct {
		Status             *property `json:"status"`
		ObservedGeneration *property `json:"observedGeneration"`
	} `json:"properties"`
}

// property is inlined, as in CustomResourceDefinitions, or referenced.
type property struct {
	Type       string      `json:"type"`
	Ref        string      `json:"$ref"`
	AllOf      []reference `json:"allOf"`
	Properties struct {
		ObservedGeneration *property `json:"observedGeneration"`
	} `json:"properties"`
}

type reference struct {
	Ref string `json:"$ref"`
}

// observedIn returns the resources with the field.
func observedIn(raw []byte) (map[string]bool, error) {
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	kinds := map[schema.GroupVersionKind]bool{}
	for _, c := range d.Components.Schemas {
		if len(c.Kinds) == 1 && d.hasField(c.Properties.Status) { // types of many groups have several
			kinds[c.Kinds[0]] = true
		}
	}
	observed := map[string]bool{}
	for route, p := range d.Paths {
		if p.Get.Action == "list" && kinds[p.Get.Kind] {
			observed[path.Base(route)] = true
		}
	}
	return observed, nil
}

func (d *document) hasField(status *property) bool {
	if status == nil {
		return false
	}
	if isInteger(status.Properties.ObservedGeneration) {
		return true
	}
	for _, r := range append(status.AllOf, reference{status.Ref}) {
		if c, ok := d.Components.Schemas[path.Base(r.Ref)]; ok && isInteger(c.Properties.ObservedGeneration) {
			return true
		}
	}
	return false
}

func isInteger(p *property) bool { return p != nil && p.Type == "integer" }
