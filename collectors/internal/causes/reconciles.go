package causes

import (
	"context"
	"reflect"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// Reconciles starts the spans of a controller's reconcile function. It finds the Store of a queue with the same name and the
// same type of items, which may be created later. It is safe for concurrent use. The zero value starts none.
type Reconciles[T any] struct {
	registry *registry
	key      storeKey
}

// taker is a Store[T]. T need not be comparable for a reconcile function without a queue.
type taker[T any] interface {
	hasQueue() bool
	begin(item T) core.Span
}

// ReconcilesOf returns the Reconciles of a controller, the zero value if the program does not trace. It may be called for each
// reconcile: it does not allocate.
func ReconcilesOf[T any](o *core.Observer, controller string) Reconciles[T] {
	if o.Tracing == nil {
		return Reconciles[T]{}
	}
	return Reconciles[T]{registryOf(o), storeKey{controller, reflect.TypeFor[T]()}}
}

// Begin returns the span of a reconcile and the context for it. The caller must end the span. Without a queue, the span has no
// causes.
func (r Reconciles[T]) Begin(ctx context.Context, item T) (context.Context, core.Span) {
	if r.registry == nil {
		return ctx, core.Span{}
	}
	var span core.Span
	s := r.find()
	if s != nil {
		span = s.begin(item) // perhaps after the end of the queue
	}
	if !span.IsRecorded() && (s == nil || !s.hasQueue()) {
		span = r.start(item)
	}
	if !span.IsRecorded() {
		return ctx, span
	}
	return span.Context(ctx), span
}

// start starts the span of a reconcile without causes.
func (r Reconciles[T]) start(item T) (span core.Span) {
	tracing := r.registry.obs.Tracing
	start, sampled := tracing.Sample(spans.Reconcile, false)
	if !start {
		return span
	}
	span = tracing.Start(context.Background(), spans.Operation{Kind: spans.Reconcile, Name: r.key.controller, Decided: true, Sampled: sampled})
	if span.IsRecorded() {
		span.SetObject(objectOf(item))
	}
	return span
}

// find returns the Store, nil if there is none.
func (r Reconciles[T]) find() taker[T] {
	r.registry.mu.RLock()
	defer r.registry.mu.RUnlock()
	s, _ := r.registry.stores[r.key].(taker[T])
	return s
}
