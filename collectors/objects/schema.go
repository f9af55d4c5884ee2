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

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"
)

// Schemas tells which resources have status.observedGeneration, by what the server says about them in OpenAPI v3. Each
// group and version is asked for once, until its description changes. It is safe for concurrent use.
type Schemas struct {
	client openapi.ClientWithContext

	mu       sync.Mutex // held during requests: descriptions are large, and one at a time is enough
	failure  error      // of the last request, nil if it succeeded
	failed   time.Time
	index    map[string]openapi.GroupVersionWithContext
	indexed  time.Time
	observed map[string]map[string]bool // resources by the address of the description, which changes with it
}

// ErrUndescribed tells that the server has no description of a group and version: that of a new CustomResourceDefinition
// comes some seconds later, and an API server that is aggregated may have none.
var ErrUndescribed = errors.New("the API server does not describe it")

const (
	// indexAge is how long the list of descriptions is good for. One that lacks what is asked for is read again at once.
	indexAge = time.Minute
	// requestTimeout is how long an answer may take.
	requestTimeout = 10 * time.Second
	// retryAfter is how long after a failure nothing is asked, so that a server that does not answer holds up nobody but the
	// first.
	retryAfter = 30 * time.Second
)

// NewSchemas returns Schemas that ask the given client, such as discovery.DiscoveryClient has one.
func NewSchemas(client openapi.ClientWithContext) *Schemas {
	return &Schemas{client: client, observed: map[string]map[string]bool{}}
}

// Observed tells whether a resource has status.observedGeneration. If the server does not say, it returns what is true of
// Kubernetes' own resources, with the error. A request that has begun is not cut short by the end of ctx. Secrets and
// ConfigMaps have none, whatever the server says: they must never be read as a whole.
func (s *Schemas) Observed(ctx context.Context, r schema.GroupVersionResource) (bool, error) {
	if r.Group == "" && (r.Resource == "secrets" || r.Resource == "configmaps") {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	described, err := s.describe(ctx, r.GroupVersion())
	if err != nil {
		return observedByDefault[r.GroupResource()], fmt.Errorf("OpenAPI description of %s: %w", r.GroupVersion(), err)
	}
	return described[r.Resource], nil
}

// observedByDefault are the resources of Kubernetes that have the field in every version that is supported.
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

// describe returns the resources of a group and version that have the field.
func (s *Schemas) describe(ctx context.Context, gv schema.GroupVersion) (map[string]bool, error) {
	if s.failure != nil && time.Since(s.failed) < retryAfter {
		return nil, s.failure
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // while it waited for others
	}
	// The answer is for all: one who asks and goes ends neither the request nor, by its failure, those of others.
	request, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	observed, err := s.ask(request, gv)
	s.failure, s.failed = nil, time.Now()
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrUndescribed) { // which is there for others
		s.failure = err
	}
	return observed, err
}

func (s *Schemas) ask(ctx context.Context, gv schema.GroupVersion) (map[string]bool, error) {
	name := path.Join("apis", gv.String())
	if gv.Group == "" {
		name = path.Join("api", gv.Version)
	}
	if s.index[name] == nil || time.Since(s.indexed) > indexAge {
		index, err := s.client.PathsWithContext(ctx)
		if err != nil {
			return nil, err
		}
		s.index, s.indexed = index, time.Now()
	}
	description := s.index[name]
	if description == nil {
		return nil, ErrUndescribed
	}
	address := description.ServerRelativeURL()
	if observed, ok := s.observed[address]; ok {
		return observed, nil
	}
	document, err := description.SchemaWithContext(ctx, runtime.ContentTypeJSON)
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

// forget drops what was known by an older description of the same group and version.
func (s *Schemas) forget(address string) {
	route, _, _ := strings.Cut(address, "?")
	for old := range s.observed {
		if before, _, _ := strings.Cut(old, "?"); before == route {
			delete(s.observed, old)
		}
	}
}

// document is the part of an OpenAPI description that is of interest; the decoder skips the rest, which is nearly all.
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

// property is described where it stands, as in CustomResourceDefinitions, or elsewhere.
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

// observedIn returns the resources that a description gives the field.
func observedIn(raw []byte) (map[string]bool, error) {
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	kinds := map[schema.GroupVersionKind]bool{}
	for _, c := range d.Components.Schemas {
		if len(c.Kinds) == 1 && d.hasField(c.Properties.Status) { // others are common to many groups
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
