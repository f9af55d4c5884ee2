package causes

import (
	"reflect"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// registry holds the Stores of an Observer. They live as long as the Observer, because controllers end and start again.
type registry struct {
	obs     *core.Observer
	dropped *core.CounterSet

	mu     sync.RWMutex
	stores map[storeKey]any // of type *Store[T]
}

var _ core.Part = &registry{}

type storeKey struct {
	controller string
	item       reflect.Type
}

// maxStores bounds the memory of a program that generates names of controllers.
const maxStores = 1000

// Of returns the Store of a controller with items of type T. If the program does not trace, or already has 1,000 controllers, it
// returns nil, on which all methods have no effect. It is safe for concurrent use.
func Of[T comparable](o *core.Observer, controller string) *Store[T] {
	if o.Tracing == nil {
		return nil
	}
	r := registryOf(o)
	key := storeKey{controller, reflect.TypeFor[T]()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.stores[key]; ok {
		return s.(*Store[T])
	}
	if len(r.stores) >= maxStores {
		return nil
	}
	s := &Store[T]{obs: o, controller: controller, dropped: r.dropped, taken: map[T][]*taken[T]{}}
	r.stores[key] = s
	return s
}

func registryOf(o *core.Observer) *registry {
	return core.PartOf(o, func(o *core.Observer) *registry {
		r := &registry{obs: o, stores: map[storeKey]any{}}
		r.dropped = o.Metrics.Scope().CounterSet(catalog.ControllerTraceLinksDropped)
		return r
	})
}

// Collect implements core.Part. All series are in vectors.
func (*registry) Collect(chan<- prometheus.Metric) {}
