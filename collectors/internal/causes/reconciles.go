package causes

import (
	"context"
	"reflect"
	"sync/atomic"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// Reconciles starts the spans of a controller's reconcile function. It finds the Store of a queue with the same name and the
// same type of items, which may be created later. It is safe for concurrent use.
type Reconciles[T any] struct {
	registry *registry
	key      storeKey
	// looked is the value of registry.changes at the last search for the Store.
	looked atomic.Int64
	store  atomic.Pointer[taker[T]]
}

// taker is a Store[T]. T need not be comparable for a reconcile function without a queue.
type taker[T any] interface {
	hasQueue() bool
	begin(item T) core.Span
}

// ReconcilesOf returns the Reconciles of a controller, nil if the program does not trace. It may be called for each reconcile:
// it does not allocate after the first call, up to 1,000 controllers.
func ReconcilesOf[T any](o *core.Observer, controller string) *Reconciles[T] {
	if o.Tracing == nil {
		return nil
	}
	r, key := registryOf(o), storeKey{controller, reflect.TypeFor[T]()}
	r.mu.RLock()
	known, ok := r.reconciles[key]
	r.mu.RUnlock()
	if ok {
		return known.(*Reconciles[T])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.reconciles[key]; ok {
		return known.(*Reconciles[T])
	}
	added := &Reconciles[T]{registry: r, key: key}
	if len(r.reconciles) < maxStores {
		r.reconciles[key] = added
	}
	return added
}

// Begin returns the span of a reconcile and the context for it. The caller must end the span. Without a queue, the span has no
// causes.
func (r *Reconciles[T]) Begin(ctx context.Context, item T) (context.Context, core.Span) {
	if r == nil {
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
func (r *Reconciles[T]) start(item T) (span core.Span) {
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
func (r *Reconciles[T]) find() taker[T] {
	if s := r.store.Load(); s != nil {
		return *s
	}
	changes := r.registry.changes.Load()
	if r.looked.Load() == changes {
		return nil
	}
	r.registry.mu.Lock()
	defer r.registry.mu.Unlock()
	r.looked.Store(changes)
	s, ok := r.registry.stores[r.key].(taker[T])
	if !ok {
		return nil
	}
	r.store.Store(&s)
	return s
}
