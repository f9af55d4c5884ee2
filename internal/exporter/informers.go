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

// target is one kind that is watched in one scope.
type target struct {
	kind         Kind
	namespace    string // empty: all of them, or none because the kind has none
	informer     cache.SharedIndexInformer
	availability *availability
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

// newTargets creates an informer for each kind and, where the kind has them, for each namespace that is asked for.
func newTargets(config Config, obs *collectors.Observer, client metadata.Interface, log *slog.Logger) ([]*target, error) {
	kinds, err := config.kinds()
	if err != nil {
		return nil, err
	}
	var targets []*target
	for _, kind := range kinds {
		namespaces := []string{metav1.NamespaceAll}
		if kind.Namespaced && len(config.Namespaces) > 0 {
			namespaces = config.Namespaces
		}
		for _, namespace := range namespaces {
			t, err := newTarget(kind, namespace, obs, client, log)
			if err != nil {
				return nil, err
			}
			targets = append(targets, t)
		}
	}
	return targets, nil
}

func newTarget(kind Kind, namespace string, obs *collectors.Observer, client metadata.Interface, log *slog.Logger) (*target, error) {
	log = log.With("informer_type", kind.Type())
	if namespace != "" {
		log = log.With("namespace", namespace)
	}
	t := &target{kind: kind, namespace: namespace, availability: newAvailability(log)}
	lw := cache.ToListWatcherWithWatchListSemantics(listWatch(client.Resource(kind.gvr()).Namespace(namespace), t.availability), client)
	t.informer = obs.NewSharedIndexInformer(t.id(), lw, &metav1.PartialObjectMetadata{}, cache.SharedIndexInformerOptions{
		ObjectDescription: kind.Type(),
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
