package exporter

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/objects"
)

var withoutGenerations = []string{"pods", "customresourcedefinitions.apiextensions.k8s.io"}

// leasesType is what Leases are called in the configuration and in labels.
const leasesType = "leases.coordination.k8s.io"

// content is what a target reads of its objects.
type content string

const (
	onlyMetadata    content = ""
	wholeLeases     content = "leases"
	withGenerations content = "generations" // or only metadata, if the kind has none
)

// content returns what is read of the objects of a kind.
func (o Objects) content(k Kind) content {
	without := o.WithoutGenerations
	if without == nil {
		without = withoutGenerations
	}
	switch name := k.Type(); {
	case name == leasesType && k.Version == "v1" && isOn(o.Leases):
		return wholeLeases
	case isOn(o.Generations) && !matches(without, name):
		return withGenerations
	}
	return onlyMetadata
}

func isOn(b *bool) bool { return b == nil || *b }

// wholeObjects reads more of objects than their metadata.
type wholeObjects struct {
	leases  coordinationclient.CoordinationV1Interface
	dynamic dynamic.Interface
	schemas *objects.Schemas
}

// newWholeObjects returns clients that share what they are given.
func newWholeObjects(config *rest.Config, client *http.Client, definitions *discovery.DiscoveryClient) (*wholeObjects, error) {
	whole := dynamic.ConfigFor(config)
	whole.NegotiatedSerializer = pruning{whole.NegotiatedSerializer, pruneWhole}
	whole.GroupVersion, whole.APIPath = &schema.GroupVersion{}, "/unused"
	custom, err := rest.RESTClientForConfigAndClient(whole, client)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	leases, err := coordinationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	schemas := objects.NewSchemas(definitions.OpenAPIV3WithContext(context.Background()))
	return &wholeObjects{leases: leases, dynamic: dynamic.New(custom), schemas: schemas}, nil
}

// signals reports what is the matter with objects, for all targets.
type signals struct {
	*objects.Collector
	// whole is nil if nothing but metadata can be read.
	whole *wholeObjects
	lag   func(collectors.ID) time.Duration
}

func newSignals(registry prometheus.Registerer, observer *collectors.Observer, name string, whole *wholeObjects) (*signals, error) {
	collector, err := objects.New(registry, objects.Options{Name: name})
	if err != nil {
		return nil, err
	}
	return &signals{Collector: collector, whole: whole, lag: observer.SyncLag}, nil
}

// follow returns what is told about the objects of a subject, where they come from, and what they are.
func (s *signals) follow(sub subject, client metadata.Interface, a *availability, log *slog.Logger) (*followed, *cache.ListWatch, runtime.Object) {
	kind := s.Kind(sub.kind.Type())
	f := &followed{kind: kind}
	resource := client.Resource(sub.kind.gvr()).Namespace(sub.namespace)
	switch {
	case s.whole == nil:
	case sub.content == wholeLeases:
		f.leases = s.Leases(func() time.Duration { return s.lag(sub.id()) })
		return f, listWatch(s.whole.leases.Leases(sub.namespace), sub, a), &coordinationv1.Lease{}
	case sub.content == withGenerations:
		g := &generations{
			kind: kind, log: log, metadata: resource, whole: s.whole.dynamic.Resource(sub.kind.gvr()).Namespace(sub.namespace),
			observed: func(ctx context.Context) (bool, error) { return s.whole.schemas.Observed(ctx, sub.kind.gvr()) },
		}
		return f, listWatch(g, sub, a), nil // of either type
	}
	return f, listWatch(resource, sub, a), &metav1.PartialObjectMetadata{}
}

// followed is told about the objects of one target.
type followed struct {
	kind   *objects.Kind
	leases *objects.Leases // nil unless they are Leases
}

var _ cache.ResourceEventHandler = (*followed)(nil)

// OnAdd implements cache.ResourceEventHandler.
func (f *followed) OnAdd(obj any, isInInitialList bool) {
	f.kind.OnAdd(obj, isInInitialList)
	if f.leases != nil {
		f.leases.OnAdd(obj, isInInitialList)
	}
}

// OnUpdate implements cache.ResourceEventHandler.
func (f *followed) OnUpdate(before, obj any) {
	f.kind.OnUpdate(before, obj)
	if f.leases != nil {
		f.leases.OnUpdate(before, obj)
	}
}

// OnDelete implements cache.ResourceEventHandler.
func (f *followed) OnDelete(obj any) {
	f.kind.OnDelete(obj)
	if f.leases != nil {
		f.leases.OnDelete(obj)
	}
}

// close removes the series of the target's objects.
func (f *followed) close() {
	f.kind.Close()
	if f.leases != nil {
		f.leases.Close()
	}
}

// generations reads the objects of a kind as a whole if they have status.observedGeneration, else their metadata. It finds
// out before each full state, because a CustomResourceDefinition may gain the field or lose it.
type generations struct {
	kind     *objects.Kind
	log      *slog.Logger
	observed func(context.Context) (bool, error)
	metadata metadata.ResourceInterface
	whole    dynamic.ResourceInterface
	reads    atomic.Bool // whole objects
	// audited is where an audit goes on: its first page alone says that it is one. Empty after the last page.
	audited atomic.Value
}

// List reads what the informer holds. An audit compares no more than metadata.
func (g *generations) List(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if options.ResourceVersionMatch == metav1.ResourceVersionMatchExact || options.Continue != "" && options.Continue == g.audited.Load() {
		list, err := g.metadata.List(ctx, options)
		if err == nil {
			g.audited.Store(list.Continue)
		}
		return orNil(list, err)
	}
	if options.Continue == "" { // else it is the rest of what was decided on
		g.decide(ctx)
	}
	if g.reads.Load() {
		return orNil(g.whole.List(ctx, options))
	}
	return orNil(g.metadata.List(ctx, options))
}

// Watch follows it.
func (g *generations) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		g.decide(ctx)
	}
	if g.reads.Load() {
		return g.whole.Watch(ctx, options)
	}
	return g.metadata.Watch(ctx, options)
}

// describedWithin is how long it may take until the API server describes a new CustomResourceDefinition. It does not limit
// a request.
const describedWithin = 5 * time.Second

func (g *generations) decide(ctx context.Context) {
	var observed bool
	var err error
	_ = wait.PollUntilContextTimeout(ctx, time.Second, describedWithin, true, func(context.Context) (bool, error) {
		observed, err = g.observed(ctx) // which has its own deadline: what others ask for may come first
		return !errors.Is(err, objects.ErrUndescribed), nil
	})
	if err != nil {
		level := slog.LevelWarn
		if errors.Is(err, objects.ErrUndescribed) || ctx.Err() != nil {
			level = slog.LevelDebug
		}
		g.log.Log(ctx, level, "Whether the resource has status.observedGeneration is not known", "assumed", observed, "err", err)
	}
	g.reads.Store(observed)
	g.kind.SetGenerations(observed)
}

// orNil returns no nil pointer in an interface.
func orNil[T any, P interface {
	*T
	runtime.Object
}](list P, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	return list, nil
}
