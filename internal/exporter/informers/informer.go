// Package informers runs the exporter's informers: one per resource and namespace, in a set that can change while it runs.
package informers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/client"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

// handlerName is the value of the label handler. Every informer has one handler.
const handlerName = "exporter"

// Spec selects the objects that an informer watches. It is comparable: informers of a set have different specs.
type Spec struct {
	Kind      kinds.Kind
	Namespace string         // empty: all namespaces, or a cluster-scoped kind
	Selector  string         // label selector, empty: all objects
	Shard     sharding.Shard // selects the watched objects by UID; zero value: all objects
	content   content
	Checks    collectors.Checks
}

// NewSpec returns the spec of a kind in a namespace.
func NewSpec(c config.Config, k kinds.Kind, namespace string) Spec {
	freshness, audit := c.Checks.Intervals()
	return Spec{
		Kind: k, Namespace: namespace, Selector: strings.TrimSpace(c.LabelSelector), content: contentOf(c.Objects, k),
		Checks: collectors.Checks{Freshness: freshness, Audit: audit},
	}
}

// Informer is an informer and its availability.
type Informer struct {
	Spec
	Shared       cache.SharedIndexInformer
	Availability *availability.Tracker
	handlers     handlers
	backoff      backoff
	hasStatus    atomic.Bool // according to the schema
	unserved     atomic.Bool // the subresource status, according to discovery

	stopping context.Context // ends when cancel is called
	cancel   context.CancelFunc
	started  bool          // guarded by the set
	Ended    chan struct{} // closed when run returns
}

// run runs the informer until ctx ends or cancel is called, and then deletes its series.
func (t *Informer) run(ctx context.Context) {
	defer close(t.Ended)
	defer t.handlers.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.stopping, cancel)()
	runUntil(ctx, t.Shared, &t.backoff)
}

// SetStatusSubresource records whether the API server serves the subresource status of the kind.
func (t *Informer) SetStatusSubresource(served bool) { t.unserved.Store(!served) }

// WithoutStatusSubresource reports whether the objects have a status, but the API server does not serve the subresource. It is false
// while either is unknown, and for kinds of which only metadata is read.
func (t *Informer) WithoutStatusSubresource() bool { return t.hasStatus.Load() && t.unserved.Load() }

// end waits until the informer has stopped. cancel must have been called.
func (t *Informer) end() {
	if !t.started {
		t.run(t.stopping) // deletes the series, which were created with the informer
	}
	<-t.Ended
}

// Name identifies the spec in its set: "pods", or "shop/pods" in a namespace.
func (s Spec) Name() string {
	if s.Namespace == "" {
		return s.Kind.Type()
	}
	return s.Namespace + "/" + s.Kind.Type()
}

// ID identifies the informer in the library.
func (s Spec) ID() informer.ID {
	return informer.ID{Group: s.Kind.Group, Resource: s.Kind.Resource, Namespace: s.Namespace}
}

// Factory creates informers.
type Factory struct {
	Observer *collectors.Observer
	Client   metadata.Interface
	Objects  *objects.Collector
	Whole    *client.WholeObjects // nil if only metadata can be read
	Logger   *slog.Logger
	Outages  *availability.Outages // optional
	// OnDefinitionsChanged is called when the API server may serve other kinds, and OnUnselected when it sent objects that a
	// spec does not select.
	OnDefinitionsChanged, OnUnselected func()
}

// New returns an informer that is not started.
func (f *Factory) New(s Spec) (*Informer, error) {
	if err := f.Observer.SetChecks(s.Checks); err != nil {
		return nil, err
	}
	log := f.Logger.With("informer_type", s.Kind.Type())
	if s.Namespace != "" {
		log = log.With("namespace", s.Namespace)
	}
	t := &Informer{Spec: s, Availability: availability.NewTracker(log), Ended: make(chan struct{})}
	t.Availability.Outages = f.Outages
	t.Availability.OnMissing, t.Availability.OnUnselected = f.OnDefinitionsChanged, f.OnUnselected
	t.stopping, t.cancel = context.WithCancel(context.Background())
	source, example := f.source(t, log)
	t.Shared = informer.NewSharedIndexInformer(f.Observer, t.ID(), cache.ToListWatcherWithWatchListSemantics(source, f.Client), example, cache.SharedIndexInformerOptions{
		ObjectDescription: s.Kind.Type(),
	})
	if kinds.DefinesKinds(s.Kind) {
		t.handlers = append(t.handlers, onChange(f.OnDefinitionsChanged))
	}
	if err := prepare(t.Shared, t.Availability, informer.NamedHandler(handlerName, t.handlers)); err != nil {
		return nil, fmt.Errorf("informer for %s: %w", t.Name(), err)
	}
	return t, nil
}

// prepare sets the transform and the handlers of an informer that is not started.
func prepare(shared cache.SharedIndexInformer, a *availability.Tracker, handler cache.ResourceEventHandler) error {
	_, err := shared.AddEventHandler(handler)
	return errors.Join(err, shared.SetTransform(objects.Transform), shared.SetWatchErrorHandlerWithContext(a.WatchError))
}

// Synced returns a channel that is closed when an informer has synced, unless ctx ends first. Since v0.36, client-go's
// HasSyncedChecker does the same without polling.
func Synced(ctx context.Context, informer cache.SharedInformer) <-chan struct{} {
	synced := make(chan struct{})
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			close(synced)
		}
	}()
	return synced
}

// handlers is one handler that calls several: those of the metrics about objects, and others.
type handlers []cache.ResourceEventHandler

// OnAdd implements cache.ResourceEventHandler.
func (all handlers) OnAdd(obj any, isInInitialList bool) {
	for _, h := range all {
		h.OnAdd(obj, isInInitialList)
	}
}

// OnUpdate implements cache.ResourceEventHandler.
func (all handlers) OnUpdate(before, obj any) {
	for _, h := range all {
		h.OnUpdate(before, obj)
	}
}

// OnDelete implements cache.ResourceEventHandler.
func (all handlers) OnDelete(obj any) {
	for _, h := range all {
		h.OnDelete(obj)
	}
}

// close deletes the series of the informer's objects.
func (all handlers) close() {
	for _, h := range all {
		if metrics, ok := h.(interface{ Close() }); ok {
			metrics.Close()
		}
	}
}

// onChange returns a handler that calls f for every event after the initial list.
func onChange(f func()) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(_ any, isInInitialList bool) {
			if !isInInitialList {
				f()
			}
		},
		UpdateFunc: func(_, _ any) { f() },
		DeleteFunc: func(any) { f() },
	}
}

// source is a client for one resource.
type source[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// listWatch lists and watches the objects that a spec selects, for the informer and for its checks, and records the results in a
// and b. An audit that fails says nothing about the informer, which needs no list while its watch is open.
func listWatch[L runtime.Object](resource source[L], s Spec, a *availability.Tracker, b *backoff) *cache.ListWatch {
	part := s.Shard.Selector()
	var pages pageSize
	var audits auditPages
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = s.Selector
			part.Select(&options)
			audit := audits.have(options)
			list, err := listPages(ctx, &pages, untyped(resource.List), options)
			if err != nil {
				if !audit {
					a.Failed(ctx, err)
				}
				return nil, err
			}
			if page, ok := list.(metav1.ListInterface); ok && audit {
				audits.listed(page.GetContinue())
			}
			return list, sharding.FilterList(part, list, a.OnUnselected)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = s.Selector
			part.Select(&options)
			b.watching(options)
			w, err := resource.Watch(ctx, options)
			if err == nil && reflect.TypeOf(w) == emptyWatch {
				a.Failed(ctx, errBrokenConnection)
				return w, nil
			}
			a.Watched(ctx, options, err)
			if err != nil {
				return nil, b.watched(ctx, options, err)
			}
			return sharding.FilterWatch(part, w, a.OnUnselected), nil
		},
	}
}

// listFunc lists objects.
type listFunc func(context.Context, metav1.ListOptions) (runtime.Object, error)

// untyped returns a function that lists objects like list, and never returns a typed nil pointer.
func untyped[L runtime.Object](list func(context.Context, metav1.ListOptions) (L, error)) listFunc {
	return func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		page, err := list(ctx, options)
		if err != nil {
			return nil, err
		}
		return page, nil
	}
}

// pageSize is the limit of lists after a larger page was aborted, 0 before. Tenants decide how large objects are.
type pageSize struct{ atomic.Int64 }

// firstPageSize is the limit of lists after one without a limit was aborted.
const firstPageSize = 500

// listPages lists a page, and all pages without a limit: client-go takes the result of such a request for everything, for example after a
// continue token has expired.
func listPages(ctx context.Context, pages *pageSize, list listFunc, options metav1.ListOptions) (runtime.Object, error) {
	one := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return listPage(ctx, pages, list, options)
	}
	if options.Limit != 0 || options.Continue != "" {
		return one(ctx, options)
	}
	all, _, err := (&pager.ListPager{PageFn: one}).ListWithAlloc(ctx, options)
	return all, err
}

// listPage lists a page. If it takes too much memory, listPage lists half of it, down to one object, and so on for later pages. The API
// server has limits only without a version, or with an exact one.
func listPage(ctx context.Context, pages *pageSize, list listFunc, options metav1.ListOptions) (runtime.Object, error) {
	if limit := pages.Load(); options.Continue == "" {
		pages.Store(min(2*limit, firstPageSize)) // the large objects may be gone
	}
	for {
		if limit := pages.Load(); limit > 0 && (options.Limit == 0 || options.Limit > limit) {
			options.Limit = limit
		}
		if pages.Load() > 0 && options.ResourceVersionMatch != metav1.ResourceVersionMatchExact {
			options.ResourceVersion, options.ResourceVersionMatch = "", ""
		}
		page, err := list(ctx, options)
		if !errors.Is(err, client.ErrTooLarge) || options.Limit == 1 {
			return page, err
		}
		pages.Store(max(1, options.Limit/2))
		if options.Limit == 0 || options.ResourceVersion == "0" {
			pages.Store(firstPageSize)
		}
	}
}

// emptyWatch is the type that client-go's REST client returns, without an error, if the connection broke during a watch request
// (k8s.io/client-go/rest, Request.Watch). The server has not responded.
var emptyWatch = reflect.TypeOf(watch.NewEmptyWatch())

var errBrokenConnection = errors.New("connection broken during the watch request")
