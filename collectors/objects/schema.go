package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Schemas finds resources with status.observedGeneration in the OpenAPI v3 documents of the API server. Each document is
// requested again only if it changes. A document that cannot be read affects only its own group and version. It is safe for
// concurrent use.
type Schemas struct {
	documents documents
	flights   singleflight.Group // by group and version
	turn      chan struct{}      // held during requests: documents are large, and one at a time is enough

	mu       sync.Mutex                      // never held during requests
	failures map[schema.GroupVersion]failure // of the last request for a document
	unlisted failure                         // of the last request for the index
	index    map[string]string               // addresses of documents
	indexed  time.Time
	observed map[string]map[string]bool // resources by the URL of the document, which contains its hash
}

// failure is an error and its time.
type failure struct {
	err error
	at  time.Time
}

// recent returns the error if it is too recent to try again.
func (f failure) recent() error {
	if f.err != nil && time.Since(f.at) < retryAfter {
		return f.err
	}
	return nil
}

// ErrUndescribed means that the API server has no OpenAPI document for a group and version. It has one for a new
// CustomResourceDefinition after a few seconds, and may have none for an aggregated API.
var ErrUndescribed = errors.New("the API server has no OpenAPI document")

const (
	// indexAge is the time after which the list of documents is requested again. A list that lacks a document is requested
	// again immediately.
	indexAge = time.Minute
	// requestTimeout is the timeout of a request.
	requestTimeout = 10 * time.Second
	// retryAfter is the time for which a failed request is not repeated, so that only one caller waits for a server that does not
	// respond.
	retryAfter = 30 * time.Second
)

// NewSchemas returns Schemas that use the given client, such as RESTClient of a discovery.DiscoveryClient.
func NewSchemas(client rest.Interface) *Schemas { return newSchemas(served{client}) }

func newSchemas(d documents) *Schemas {
	return &Schemas{
		documents: d, turn: make(chan struct{}, 1), failures: map[schema.GroupVersion]failure{}, observed: map[string]map[string]bool{},
	}
}

// Observed reports whether a resource has status.observedGeneration. If it returns an error, the result is the default for
// Kubernetes' own resources. The end of ctx ends the wait, but does not cancel a request that has started: the next caller gets
// its result. For Secrets and ConfigMaps it always returns false, because they must never be read as a whole.
func (s *Schemas) Observed(ctx context.Context, r schema.GroupVersionResource) (bool, error) {
	if r.Group == "" && (r.Resource == "secrets" || r.Resource == "configmaps") {
		return false, nil
	}
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
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if observed, _, err := s.known(gv); observed != nil || err != nil {
		return observed, err
	}
	// All callers share the response, so a canceled caller must not cancel the request.
	shared := context.WithoutCancel(ctx)
	result := s.flights.DoChan(gv.String(), func() (_ any, err error) {
		// With DoChan, a panic would crash the process. The document may be from an aggregated API server or a CustomResourceDefinition.
		defer func() {
			if r := recover(); r != nil {
				err = s.fail(gv, fmt.Errorf("panic: %v", r))
			}
		}()
		s.turn <- struct{}{}
		defer func() { <-s.turn }()
		request, cancel := context.WithTimeout(shared, requestTimeout)
		defer cancel()
		return s.ask(request, gv)
	})
	select {
	case r := <-result:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(map[string]bool), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// known returns the result of earlier requests: the resources, a recent failure, or neither. address is that of the document, empty
// if the index must be requested.
func (s *Schemas) known(gv schema.GroupVersion) (observed map[string]bool, address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := nameOf(gv)
	if err := s.unlisted.recent(); err != nil {
		return nil, "", err
	}
	if err := s.failures[gv].recent(); err != nil {
		return nil, "", err
	}
	if s.index[name] == "" || time.Since(s.indexed) > indexAge {
		return nil, "", nil
	}
	return s.observed[s.index[name]], s.index[name], nil
}

func (s *Schemas) ask(ctx context.Context, gv schema.GroupVersion) (map[string]bool, error) {
	observed, address, err := s.known(gv) // another caller may have requested it
	if observed != nil || err != nil {
		return observed, err
	}
	if address == "" {
		index, err := s.documents.index(ctx)
		s.mu.Lock()
		s.unlisted = failure{err, time.Now()}
		if err == nil {
			s.index, s.indexed = index, time.Now()
			s.prune()
		}
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if observed, address, err = s.known(gv); observed != nil || err != nil {
			return observed, err
		}
		if address == "" {
			return nil, ErrUndescribed
		}
	}
	document, err := s.documents.get(ctx, address)
	if err == nil {
		observed, err = observedIn(document)
	}
	if err != nil {
		return nil, s.fail(gv, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.failures, gv)
	s.forget(address)
	s.observed[address] = observed
	return observed, nil
}

// fail records an error and returns it.
func (s *Schemas) fail(gv schema.GroupVersion, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[gv] = failure{err, time.Now()}
	return err
}

// nameOf returns the name of a document in the index.
func nameOf(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return path.Join("api", gv.Version)
	}
	return path.Join("apis", gv.String())
}

// prune removes the resources and failures of documents that are no longer in the index. The lock must be held.
func (s *Schemas) prune() {
	routes := map[string]bool{}
	for _, address := range s.index {
		routes[routeOf(address)] = true
	}
	maps.DeleteFunc(s.observed, func(address string, _ map[string]bool) bool { return !routes[routeOf(address)] })
	maps.DeleteFunc(s.failures, func(gv schema.GroupVersion, _ failure) bool { return s.index[nameOf(gv)] == "" })
}

// routeOf returns an address without its hash.
func routeOf(address string) string {
	route, _, _ := strings.Cut(address, "?")
	return route
}

// forget removes the resources of an older document of the same group and version.
func (s *Schemas) forget(address string) {
	route := routeOf(address)
	maps.DeleteFunc(s.observed, func(old string, _ map[string]bool) bool { return routeOf(old) == route })
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
		if len(c.Kinds) == 1 && d.hasField(c.Properties.Status) { // types that many groups share have several
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
