// Package informers runs the exporter's informers: one for each resource and namespace, in a set that can be replaced while it
// runs.
package informers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

// Values of the label handler: of the handler that every informer has, and of the one that sees definitions change.
const (
	handlerName          = "exporter"
	discoveryHandlerName = "discovery"
)

// subject is what a target watches, and how. Two targets of a set have different ones, and whatever it does not say is the
// same for all.
type Spec struct {
	Kind      kinds.Kind
	Namespace string         // empty: all of them, or none because the kind has none
	Selector  string         // of labels, empty: all objects
	Shard     sharding.Shard // whose objects they are, by their UIDs; the zero value: all objects
	content   content
	Checks    collectors.Checks
}

// newSubject returns how a kind is watched in a scope.
func NewSpec(c config.Config, k kinds.Kind, namespace string) Spec {
	return Spec{Kind: k, Namespace: namespace, Selector: strings.TrimSpace(c.LabelSelector), content: contentOf(c.Objects, k), Checks: checksOf(c.Checks)}
}

func checksOf(c config.Checks) collectors.Checks {
	freshness, audit := c.Intervals()
	return collectors.Checks{Freshness: freshness, Audit: audit}
}

// target is one kind that is watched in one scope.
type Informer struct {
	Spec
	Shared       cache.SharedIndexInformer
	Availability *availability.Tracker
	handler      *objectHandler

	stopping context.Context // ends when cancel is called
	cancel   context.CancelFunc
	started  bool          // guarded by the set
	Ended    chan struct{} // closed when run has returned
}

// run runs the informer until ctx ends or cancel is called. It leaves no series.
func (t *Informer) run(ctx context.Context) {
	defer close(t.Ended)
	defer t.handler.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.stopping, cancel)()
	t.Shared.RunWithContext(ctx)
}

// end waits until the target has ended, for which cancel must have been called.
func (t *Informer) end() {
	if !t.started {
		t.run(t.stopping) // which removes the series that the informer has had since it was made
	}
	<-t.Ended
}

// name identifies the subject among the others: "pods", or "shop/pods" if it is limited to a namespace.
func (s Spec) Name() string {
	if s.Namespace == "" {
		return s.Kind.Type()
	}
	return s.Namespace + "/" + s.Kind.Type()
}

func (s Spec) ID() informer.ID {
	return informer.ID{Group: s.Kind.Group, Resource: s.Kind.Resource, Namespace: s.Namespace}
}

// factory makes targets.
type Factory struct {
	Observer *collectors.Observer
	Client   metadata.Interface
	Objects  *ObjectMetrics
	Logger   *slog.Logger
	// definitionsChanged is called whenever the API server may serve something else than before, and partIgnored when it has
	// sent what a subject does not select.
	OnDefinitionsChanged, OnUnselected func()
}

// newTarget makes a target that has not been started.
func (f *Factory) New(s Spec) (*Informer, error) {
	if err := f.Observer.SetChecks(s.Checks); err != nil {
		return nil, err
	}
	log := f.Logger.With("informer_type", s.Kind.Type())
	if s.Namespace != "" {
		log = log.With("namespace", s.Namespace)
	}
	t := &Informer{Spec: s, Availability: availability.NewTracker(log), Ended: make(chan struct{})}
	t.Availability.OnMissing, t.Availability.OnUnselected = f.OnDefinitionsChanged, f.OnUnselected
	t.stopping, t.cancel = context.WithCancel(context.Background())
	followed, source, example := f.Objects.source(s, f.Client, t.Availability, log)
	t.handler = followed
	t.Shared = informer.NewSharedIndexInformer(f.Observer, t.ID(), cache.ToListWatcherWithWatchListSemantics(source, f.Client), example, cache.SharedIndexInformerOptions{
		ObjectDescription: s.Kind.Type(),
	})
	if err := t.Shared.SetTransform(objects.Transform); err != nil {
		return nil, fmt.Errorf("informer for %s: %w", t.Name(), err)
	}
	if err := t.Shared.SetWatchErrorHandlerWithContext(t.Availability.WatchError); err != nil {
		return nil, fmt.Errorf("informer for %s: %w", t.Name(), err)
	}
	if _, err := t.Shared.AddEventHandler(informer.NamedHandler(handlerName, followed)); err != nil {
		return nil, fmt.Errorf("informer for %s: %w", t.Name(), err)
	}
	if kinds.DefinesKinds(s.Kind) {
		if _, err := t.Shared.AddEventHandler(informer.NamedHandler(discoveryHandlerName, onChange(f.OnDefinitionsChanged))); err != nil {
			return nil, fmt.Errorf("informer for %s: %w", t.Name(), err)
		}
	}
	return t, nil
}

// onChange returns a handler that calls f for whatever changes after the initial list.
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

// source is where the objects of a resource come from: a client of client-go for it.
type source[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// listWatch reads those objects of one resource that a subject selects, and tells a what came of it. The checks read
// through it, too.
func listWatch[L runtime.Object](resource source[L], s Spec, a *availability.Tracker) *cache.ListWatch {
	part := s.Shard.Selector()
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector, options.ShardSelector = s.Selector, part.String()
			list, err := resource.List(ctx, options)
			a.Listed(ctx, err)
			if err != nil {
				return nil, err // and not a nil pointer in an interface
			}
			return list, sharding.FilterList(part, list, a.OnUnselected)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector, options.ShardSelector = s.Selector, part.String()
			w, err := resource.Watch(ctx, options)
			if err == nil && reflect.TypeOf(w) == emptyWatch {
				a.Failed(ctx, errBrokenConnection)
				return w, nil
			}
			a.Watched(ctx, options, err)
			if err != nil {
				return w, err
			}
			return sharding.FilterWatch(part, w, a.OnUnselected), nil
		},
	}
}

// emptyWatch is what client-go's REST client returns, without an error, when the connection broke while a watch was
// being requested (k8s.io/client-go/rest, Request.Watch): no server has answered.
var emptyWatch = reflect.TypeOf(watch.NewEmptyWatch())

var errBrokenConnection = errors.New("the connection broke while the watch was requested")
