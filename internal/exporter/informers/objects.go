package informers

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// content is the part of objects that an informer reads.
type content string

const (
	onlyMetadata    content = ""
	wholeLeases     content = "leases"
	withGenerations content = "generations" // metadata only, if the kind lacks the field
)

// contentOf returns the content that is read for a kind.
func contentOf(o config.Objects, k kinds.Kind) content {
	switch {
	case k.Type() == kinds.Leases && k.Version == "v1" && o.WholeLeases():
		return wholeLeases
	case o.WholeObjects(k):
		return withGenerations
	}
	return onlyMetadata
}

// ObjectMetrics reports metrics about objects for all informers.
type ObjectMetrics struct {
	*objects.Collector
	// whole is nil if only metadata can be read.
	whole *client.WholeObjects
	lag   func(informer.ID) time.Duration
}

// NewObjectMetrics registers the metrics about objects.
func NewObjectMetrics(registry prometheus.Registerer, observer *collectors.Observer, options objects.Options, whole *client.WholeObjects) (*ObjectMetrics, error) {
	collector, err := objects.New(registry, options)
	if err != nil {
		return nil, err
	}
	return &ObjectMetrics{Collector: collector, whole: whole, lag: func(id informer.ID) time.Duration { return informer.SyncLag(observer, id) }}, nil
}

// source returns the handler of an informer's objects, their source and their type.
func (s *ObjectMetrics) source(t *Informer, client metadata.Interface, log *slog.Logger) (*objectHandler, *cache.ListWatch, runtime.Object) {
	sub, a, b := t.Spec, t.Availability, &t.backoff
	kind := s.NewHandler(sub.Kind.Type())
	f := &objectHandler{kind: kind}
	resource := client.Resource(sub.Kind.GVR()).Namespace(sub.Namespace)
	switch {
	case s.whole == nil:
	case sub.content == wholeLeases:
		f.leases = s.NewLeaseHandler(func() time.Duration { return s.lag(sub.ID()) })
		return f, listWatch(s.whole.Leases.Leases(sub.Namespace), sub, a, b), &coordinationv1.Lease{}
	case sub.content == withGenerations:
		g := &generationSource{
			kind: kind, log: log, metadata: resource, whole: s.whole.Dynamic.Resource(sub.Kind.GVR()).Namespace(sub.Namespace),
			observed: func(ctx context.Context) (bool, error) {
				observed, err := s.whole.Schemas.Observed(ctx, sub.Kind.GVR())
				if err != nil {
					return observed, err
				}
				if has, failed := s.whole.Schemas.HasStatus(ctx, sub.Kind.GVR()); failed == nil {
					t.hasStatus.Store(has)
				}
				return observed, nil
			},
		}
		return f, listWatch(g, sub, a, b), nil // nil, because objects have either type
	}
	return f, listWatch(resource, sub, a, b), &metav1.PartialObjectMetadata{}
}

// objectHandler passes events to the metrics of one informer.
type objectHandler struct {
	kind   *objects.Handler
	leases *objects.LeaseHandler // nil unless the objects are Leases
}

var _ cache.ResourceEventHandler = (*objectHandler)(nil)

// OnAdd implements cache.ResourceEventHandler.
func (f *objectHandler) OnAdd(obj any, isInInitialList bool) {
	f.kind.OnAdd(obj, isInInitialList)
	if f.leases != nil {
		f.leases.OnAdd(obj, isInInitialList)
	}
}

// OnUpdate implements cache.ResourceEventHandler.
func (f *objectHandler) OnUpdate(before, obj any) {
	f.kind.OnUpdate(before, obj)
	if f.leases != nil {
		f.leases.OnUpdate(before, obj)
	}
}

// OnDelete implements cache.ResourceEventHandler.
func (f *objectHandler) OnDelete(obj any) {
	f.kind.OnDelete(obj)
	if f.leases != nil {
		f.leases.OnDelete(obj)
	}
}

// close deletes the series of the informer's objects.
func (f *objectHandler) close() {
	f.kind.Close()
	if f.leases != nil {
		f.leases.Close()
	}
}
