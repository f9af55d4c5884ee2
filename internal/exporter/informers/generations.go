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

// generationSource reads whole objects if the kind has status.observedGeneration, else metadata. It checks that before each
// initial list, because a CustomResourceDefinition may gain or lose the field.
type generationSource struct {
	kind     *objects.Handler
	log      *slog.Logger
	observed func(context.Context) (bool, error)
	metadata metadata.ResourceInterface
	whole    dynamic.ResourceInterface
	reads    atomic.Bool // whole objects
	// audited is the continue token of an audit, which only its first page identifies. It is empty after the last page.
	audited atomic.Value
}

// List lists the objects of the informer. Audits list only metadata.
func (g *generationSource) List(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if options.ResourceVersionMatch == metav1.ResourceVersionMatchExact || options.Continue != "" && options.Continue == g.audited.Load() {
		list, err := g.metadata.List(ctx, options)
		if err == nil {
			g.audited.Store(list.Continue)
		}
		return orNil(list, err)
	}
	if options.Continue == "" { // later pages follow the first one
		g.decide(ctx)
	}
	if g.reads.Load() {
		return orNil(g.whole.List(ctx, options))
	}
	return orNil(g.metadata.List(ctx, options))
}

// Watch watches the objects that List has listed.
func (g *generationSource) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		g.decide(ctx)
	}
	if g.reads.Load() {
		return g.whole.Watch(ctx, options)
	}
	return g.metadata.Watch(ctx, options)
}

// describedWithin is how long to wait for the description of a new CustomResourceDefinition. It does not limit requests.
const describedWithin = 5 * time.Second

func (g *generationSource) decide(ctx context.Context) {
	var observed bool
	var err error
	_ = wait.PollUntilContextTimeout(ctx, time.Second, describedWithin, true, func(context.Context) (bool, error) {
		observed, err = g.observed(ctx) // has its own deadline, and may wait for others
		return !errors.Is(err, objects.ErrUndescribed), nil
	})
	if err != nil {
		level := slog.LevelWarn
		if errors.Is(err, objects.ErrUndescribed) || ctx.Err() != nil {
			level = slog.LevelDebug
		}
		g.log.Log(ctx, level, "support of status.observedGeneration is not known", "assumed", observed, "err", err)
	}
	g.reads.Store(observed)
	g.kind.SetGenerations(observed)
}

// orNil avoids a typed nil pointer in an interface.
func orNil[T any, P interface {
	*T
	runtime.Object
}](list P, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	return list, nil
}
