package informers

import (
	"context"
	"log/slog"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
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

// source returns the source of an informer's objects and their type, and sets the handlers of their metrics.
func (f *Factory) source(t *Informer, log *slog.Logger) (*cache.ListWatch, runtime.Object) {
	sub, a, b := t.Spec, t.Availability, &t.backoff
	kind := f.Objects.NewHandler(sub.Kind.Type())
	t.handlers = handlers{kind}
	resource := f.Client.Resource(sub.Kind.GVR()).Namespace(sub.Namespace)
	switch {
	case f.Whole == nil:
	case sub.content == wholeLeases:
		t.handlers = append(t.handlers, f.Objects.NewLeaseHandler(func() time.Duration { return informer.SyncLag(f.Observer, sub.ID()) }))
		return listWatch(f.Whole.Leases.Leases(sub.Namespace), sub, a, b), &coordinationv1.Lease{}
	case sub.content == withGenerations:
		g := &generationSource{
			kind: kind, log: log, metadata: resource, whole: f.Whole.Dynamic.Resource(sub.Kind.GVR()).Namespace(sub.Namespace),
			observed: func(ctx context.Context) (bool, error) {
				observed, err := f.Whole.Schemas.Observed(ctx, sub.Kind.GVR())
				if err != nil {
					return observed, err
				}
				if has, failed := f.Whole.Schemas.HasStatus(ctx, sub.Kind.GVR()); failed == nil {
					t.hasStatus.Store(has)
				}
				return observed, nil
			},
		}
		return listWatch(g, sub, a, b), nil // nil, because objects have either type
	}
	return listWatch(resource, sub, a, b), &metav1.PartialObjectMetadata{}
}
