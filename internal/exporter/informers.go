package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// Values of the label handler: of the handler that every informer has, and of the one that sees definitions change.
const (
	handlerName          = "exporter"
	discoveryHandlerName = "discovery"
)

// subject is what a target watches, and how. Two targets of a set have different ones, and whatever it does not say is the
// same for all.
type subject struct {
	kind      Kind
	namespace string // empty: all of them, or none because the kind has none
	selector  string // of labels, empty: all objects
	part      Shard  // whose objects they are, by their UIDs; the zero value: all objects
	content   content
	checks    collectors.Checks
}

// target is one kind that is watched in one scope.
type target struct {
	subject
	informer     cache.SharedIndexInformer
	availability *availability
	followed     *followed

	stopping context.Context // ends when cancel is called
	cancel   context.CancelFunc
	started  bool          // guarded by the set
	ended    chan struct{} // closed when run has returned
}

// run runs the informer until ctx ends or cancel is called. It leaves no series.
func (t *target) run(ctx context.Context) {
	defer close(t.ended)
	defer t.followed.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.stopping, cancel)()
	t.informer.RunWithContext(ctx)
}

// end waits until the target has ended, for which cancel must have been called.
func (t *target) end() {
	if !t.started {
		t.run(t.stopping) // which removes the series that the informer has had since it was made
	}
	<-t.ended
}

// name identifies the subject among the others: "pods", or "shop/pods" if it is limited to a namespace.
func (s subject) name() string {
	if s.namespace == "" {
		return s.kind.Type()
	}
	return s.namespace + "/" + s.kind.Type()
}

func (s subject) id() collectors.ID {
	return collectors.ID{Group: s.kind.Group, Resource: s.kind.Resource, Namespace: s.namespace}
}

// newTarget makes a target that has not been started. definitionsChanged is called whenever the API server may serve
// something else than before, and partIgnored when it has sent what the subject does not select.
func newTarget(s subject, obs *collectors.Observer, client metadata.Interface, signals *signals, log *slog.Logger, definitionsChanged, partIgnored func()) (*target, error) {
	if err := obs.SetChecks(s.checks); err != nil {
		return nil, err
	}
	log = log.With("informer_type", s.kind.Type())
	if s.namespace != "" {
		log = log.With("namespace", s.namespace)
	}
	t := &target{subject: s, availability: newAvailability(log), ended: make(chan struct{})}
	t.availability.missing, t.availability.unasked = definitionsChanged, partIgnored
	t.stopping, t.cancel = context.WithCancel(context.Background())
	followed, source, example := signals.follow(s, client, t.availability, log)
	t.followed = followed
	t.informer = obs.NewSharedIndexInformer(t.id(), cache.ToListWatcherWithWatchListSemantics(source, client), example, cache.SharedIndexInformerOptions{
		ObjectDescription: s.kind.Type(),
	})
	if err := t.informer.SetTransform(slim); err != nil {
		return nil, fmt.Errorf("informer for %s: %w", t.name(), err)
	}
	if err := t.informer.SetWatchErrorHandlerWithContext(t.availability.watchError); err != nil {
		return nil, fmt.Errorf("informer for %s: %w", t.name(), err)
	}
	if _, err := t.informer.AddEventHandler(collectors.NamedHandler(handlerName, followed)); err != nil {
		return nil, fmt.Errorf("informer for %s: %w", t.name(), err)
	}
	if definesKinds(s.kind) {
		if _, err := t.informer.AddEventHandler(collectors.NamedHandler(discoveryHandlerName, onChange(definitionsChanged))); err != nil {
			return nil, fmt.Errorf("informer for %s: %w", t.name(), err)
		}
	}
	return t, nil
}

// definesKinds tells whether the objects of a kind define other kinds.
func definesKinds(k Kind) bool {
	return k.Type() == "customresourcedefinitions.apiextensions.k8s.io" || k.Type() == "apiservices.apiregistration.k8s.io"
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
func listWatch[L runtime.Object](resource source[L], s subject, a *availability) *cache.ListWatch {
	part := s.part.selector()
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector, options.ShardSelector = s.selector, part.String()
			list, err := resource.List(ctx, options)
			a.listed(ctx, err)
			if err != nil {
				return nil, err // and not a nil pointer in an interface
			}
			return list, only(part, list, a.unasked)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector, options.ShardSelector = s.selector, part.String()
			w, err := resource.Watch(ctx, options)
			if err == nil && reflect.TypeOf(w) == emptyWatch {
				a.failed(ctx, errBrokenConnection)
				return w, nil
			}
			a.watched(ctx, options, err)
			if err != nil {
				return w, err
			}
			return onlyEvents(part, w, a.unasked), nil
		},
	}
}

// emptyWatch is what client-go's REST client returns, without an error, when the connection broke while a watch was
// being requested (k8s.io/client-go/rest, Request.Watch): no server has answered.
var emptyWatch = reflect.TypeOf(watch.NewEmptyWatch())

var errBrokenConnection = errors.New("the connection broke while the watch was requested")

// watchError keeps client-go from logging an error on each retry that availability has logged once already. What did
// not come from a request, such as a list that could not be taken in, is logged as ever.
func (a *availability) watchError(ctx context.Context, r *cache.Reflector, err error) {
	if !a.reported(err) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
	}
}
