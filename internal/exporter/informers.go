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

// handlerName is the value of the label handler of the exporter's own event handler.
const handlerName = "exporter"

// subject is what a target watches, and how. Two targets of a set have different ones, and whatever it does not say is the
// same for all.
type subject struct {
	kind      Kind
	namespace string // empty: all of them, or none because the kind has none
}

// target is one kind that is watched in one scope.
type target struct {
	subject
	informer     cache.SharedIndexInformer
	availability *availability

	stopping context.Context // ends when cancel is called
	cancel   context.CancelFunc
	started  bool          // guarded by the set
	ended    chan struct{} // closed when run has returned
}

// run runs the informer until ctx ends or cancel is called. It leaves no series.
func (t *target) run(ctx context.Context) {
	defer close(t.ended)
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

// name identifies the target among the others: "pods", or "shop/pods" if it is limited to a namespace.
func (t *target) name() string {
	if t.namespace == "" {
		return t.kind.Type()
	}
	return t.namespace + "/" + t.kind.Type()
}

func (t *target) id() collectors.ID {
	return collectors.ID{Group: t.kind.Group, Resource: t.kind.Resource, Namespace: t.namespace}
}

// subjects returns what is to be watched: each kind and, where the kind has them, each namespace that is asked for.
func (c Config) subjects() ([]subject, error) {
	kinds, err := c.kinds()
	if err != nil {
		return nil, err
	}
	var subjects []subject
	for _, kind := range kinds {
		namespaces := []string{metav1.NamespaceAll}
		if kind.Namespaced && len(c.Namespaces) > 0 {
			namespaces = c.Namespaces
		}
		for _, namespace := range namespaces {
			subjects = append(subjects, subject{kind: kind, namespace: namespace})
		}
	}
	return subjects, nil
}

func newTarget(s subject, obs *collectors.Observer, client metadata.Interface, log *slog.Logger) (*target, error) {
	log = log.With("informer_type", s.kind.Type())
	if s.namespace != "" {
		log = log.With("namespace", s.namespace)
	}
	t := &target{subject: s, availability: newAvailability(log), ended: make(chan struct{})}
	t.stopping, t.cancel = context.WithCancel(context.Background())
	lw := cache.ToListWatcherWithWatchListSemantics(listWatch(client.Resource(s.kind.gvr()).Namespace(s.namespace), t.availability), client)
	t.informer = obs.NewSharedIndexInformer(t.id(), lw, &metav1.PartialObjectMetadata{}, cache.SharedIndexInformerOptions{
		ObjectDescription: s.kind.Type(),
	})
	if err := t.informer.SetTransform(slim); err != nil {
		return nil, fmt.Errorf("informer for %s: %w", t.name(), err)
	}
	if err := t.informer.SetWatchErrorHandlerWithContext(t.watchError); err != nil {
		return nil, fmt.Errorf("informer for %s: %w", t.name(), err)
	}
	// Without a handler there is no delivery whose lag could be measured.
	if _, err := t.informer.AddEventHandler(collectors.NamedHandler(handlerName, cache.ResourceEventHandlerFuncs{})); err != nil {
		return nil, fmt.Errorf("informer for %s: %w", t.name(), err)
	}
	return t, nil
}

// listWatch reads the metadata of one resource and tells a what came of it.
func listWatch(resource metadata.ResourceInterface, a *availability) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := resource.List(ctx, options)
			a.listed(ctx, err)
			if err != nil {
				return nil, err // and not a nil pointer in an interface
			}
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := resource.Watch(ctx, options)
			if err == nil && reflect.TypeOf(w) == emptyWatch {
				a.failed(ctx, errBrokenConnection)
				return w, nil
			}
			a.watched(ctx, options, err)
			return w, err
		},
	}
}

// emptyWatch is what client-go's REST client returns, without an error, when the connection broke while a watch was
// being requested (k8s.io/client-go/rest, Request.Watch): no server has answered.
var emptyWatch = reflect.TypeOf(watch.NewEmptyWatch())

var errBrokenConnection = errors.New("the connection broke while the watch was requested")

// watchError keeps client-go from logging an error on each retry that availability has logged once already. What did
// not come from a request, such as a list that could not be taken in, is logged as ever.
func (t *target) watchError(ctx context.Context, r *cache.Reflector, err error) {
	if !t.availability.reported(err) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
	}
}
