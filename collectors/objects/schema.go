package objects

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

// Schemas finds resources with status.observedGeneration in the OpenAPI v3 documents of the API server. Each document is
// requested again only if it changes. A document that cannot be read affects only its own group and version. It is safe for
// concurrent use.
type Schemas struct {
	documents documents
	log       *slog.Logger
	turn      chan struct{} // held during requests: documents are large, and one at a time is enough

	mu       sync.Mutex        // never held during requests
	unlisted failure           // of the last request for the index
	index    map[string]string // addresses of documents, which contain their hashes
	indexed  time.Time
	read     map[schema.GroupVersion]description
}

// description is what the document of a group and version says.
type description struct {
	address   string // of the document that was read
	resources map[string]facts
	failure   failure // of the last request
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

// NewSchemas returns Schemas that use the given client, such as RESTClient of a discovery.DiscoveryClient. Failures are logged when
// they start and end, not for each resource. Without a logger, they are not logged.
func NewSchemas(client rest.Interface, log *slog.Logger) *Schemas {
	return newSchemas(served{client}, log)
}

func newSchemas(d documents, log *slog.Logger) *Schemas {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Schemas{
		documents: d, log: log, turn: make(chan struct{}, 1), read: map[schema.GroupVersion]description{},
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
	return described[r.Resource].observedGeneration, nil
}

// HasStatus reports whether a resource has a status. It never reads whole objects, and sends no request once Observed has succeeded,
// except for Secrets and ConfigMaps.
func (s *Schemas) HasStatus(ctx context.Context, r schema.GroupVersionResource) (bool, error) {
	described, err := s.describe(ctx, r.GroupVersion())
	return described[r.Resource].status, err
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

// describe returns the resources of a group and version.
func (s *Schemas) describe(ctx context.Context, gv schema.GroupVersion) (map[string]facts, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if described, _, err := s.known(gv); described != nil || err != nil {
		return described, err
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	// A caller that leaves does not cancel the request: the next one, which has waited for its turn, gets the response.
	return schedule.Call(ctx, func() (described map[string]facts, err error) {
		defer func() { <-s.turn }()
		// The document may be from an aggregated API server or a CustomResourceDefinition.
		defer func() {
			if r := recover(); r != nil {
				err = s.fail(gv, fmt.Errorf("panic: %v", r))
			}
		}()
		request, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		defer cancel()
		return s.ask(request, gv)
	}, nil)
}

// known returns the result of earlier requests: the resources, a recent failure, or neither. address is that of the document, empty
// if the index must be requested.
func (s *Schemas) known(gv schema.GroupVersion) (described map[string]facts, address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.unlisted.recent(); err != nil {
		return nil, "", err
	}
	d := s.read[gv]
	if err := d.failure.recent(); err != nil {
		return nil, "", err
	}
	address = s.index[nameOf(gv)]
	switch {
	case address == "" || time.Since(s.indexed) > indexAge:
		return nil, "", nil
	case d.address != address: // another version of the document
		return nil, address, nil
	}
	return d.resources, address, nil
}

func (s *Schemas) ask(ctx context.Context, gv schema.GroupVersion) (map[string]facts, error) {
	described, address, err := s.known(gv) // another caller may have requested it
	if described != nil || err != nil {
		return described, err
	}
	if address == "" {
		index, err := s.documents.index(ctx)
		s.mu.Lock()
		s.report("OpenAPI documents", s.unlisted.err, err)
		s.unlisted = failure{err, time.Now()}
		if err == nil {
			s.index, s.indexed = index, time.Now()
			maps.DeleteFunc(s.read, func(gv schema.GroupVersion, _ description) bool { return index[nameOf(gv)] == "" })
		}
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if described, address, err = s.known(gv); described != nil || err != nil {
			return described, err
		}
		if address == "" {
			return nil, ErrUndescribed
		}
	}
	document, err := s.documents.get(ctx, address)
	if err == nil {
		defer document.Close() // also after a panic
		described, err = readDocument(document)
	}
	if err != nil {
		return nil, s.fail(gv, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report("OpenAPI document of "+gv.String(), s.read[gv].failure.err, nil)
	s.read[gv] = description{address: address, resources: described}
	return described, nil
}

// fail records an error and returns it.
func (s *Schemas) fail(gv schema.GroupVersion, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.read[gv]
	s.report("OpenAPI document of "+gv.String(), d.failure.err, err)
	d.failure = failure{err, time.Now()}
	s.read[gv] = d
	return err
}

// report logs that reading started to fail or succeeds again.
func (s *Schemas) report(what string, before, now error) {
	switch {
	case now != nil && before == nil:
		s.log.Warn("cannot read the "+what+"; assuming which resources have status.observedGeneration", "retry", retryAfter, "err", now)
	case now == nil && before != nil:
		s.log.Info("the " + what + " can be read again")
	}
}

// nameOf returns the name of a document in the index.
func nameOf(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return path.Join("api", gv.Version)
	}
	return path.Join("apis", gv.String())
}
