package informers

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/informer-exporter/informer-exporter/collectors/objects"
)

// generations reads the objects of a kind as a whole if they have status.observedGeneration, else their metadata. It finds
// out before each full state, because a CustomResourceDefinition may gain the field or lose it.
type generationSource struct {
	kind     *objects.Handler
	log      *slog.Logger
	observed func(context.Context) (bool, error)
	metadata metadata.ResourceInterface
	whole    dynamic.ResourceInterface
	reads    atomic.Bool // whole objects
	// audited is where an audit goes on: its first page alone says that it is one. Empty after the last page.
	audited atomic.Value
}

// List reads what the informer holds. An audit compares no more than metadata.
func (g *generationSource) List(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
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
func (g *generationSource) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
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

func (g *generationSource) decide(ctx context.Context) {
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
