package controllers

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// registry holds the series of one Observer's controllers. Their decorators are functions, and the end of a function cannot be
// observed: the series exist until Forget.
type registry struct {
	*core.Observer

	// mu is held while decorators are created, scraped or forgotten, never while they are called.
	mu     sync.Mutex
	series map[seriesKey]owned
}

var _ core.Part = &registry{}

func registryOf(obs *collectors.Observer) *registry {
	return core.PartOf(core.Of(obs), func(o *core.Observer) *registry {
		return &registry{Observer: o, series: map[seriesKey]owned{}}
	})
}

// seriesKey identifies the series that decorators share: their type and their labels.
type seriesKey struct {
	of reflect.Type
	// labels are the controller and, for some types, the finalizer.
	labels [2]string
}

// owned are series that decorators share, with the scope that deletes those that exist between scrapes.
type owned struct {
	series any
	scope  *core.Scope
}

// collector is implemented by series that are read at scrape time.
type collector interface {
	collect(ch chan<- prometheus.Metric)
}

// seriesOf returns the series of type S with the given labels, and builds them if there are none.
func seriesOf[S any](r *registry, build func(scope *core.Scope) S, labels ...string) S {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := seriesKey{of: reflect.TypeFor[S]()}
	copy(key.labels[:], labels)
	r.acquire(&key)
	if s, ok := r.series[key]; ok {
		r.release(key) // they hold their labels already
		return s.series.(S)
	}
	scope := r.Metrics.Scope(slices.Clone(key.labels[:len(labels)])...)
	s := build(scope)
	r.series[key] = owned{s, scope}
	return s
}

// lookUp returns the series of type S with the given labels, the zero value if there are none.
func lookUp[S any](r *registry, labels ...string) (s S) {
	key := seriesKey{of: reflect.TypeFor[S]()}
	copy(key.labels[:], labels)
	r.mu.Lock()
	defer r.mu.Unlock()
	s, _ = r.series[key].series.(S)
	return s
}

// acquire replaces labels beyond a limit by "other".
func (r *registry) acquire(key *seriesKey) {
	key.labels[0] = r.Labels.Controllers.Acquire(key.labels[0])
	if key.labels[1] != "" {
		key.labels[1] = r.Labels.Finalizers.Acquire(key.labels[1])
	}
}

// release undoes acquire.
func (r *registry) release(key seriesKey) {
	r.Labels.Controllers.Release(key.labels[0])
	if key.labels[1] != "" {
		r.Labels.Finalizers.Release(key.labels[1])
	}
}

// Forget deletes the series that this package's decorators report for a controller. Call it when a controller ends before its
// program. Its decorators then have no effect: a successor with the same name needs new ones, created after Forget. The
// series of a queue end with the queue. A controller beyond the limit is reported as "other", together with others, and
// has no series to delete. Forget is safe for concurrent use.
func Forget(obs *collectors.Observer, controller string) {
	r := registryOf(obs)
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, s := range r.series {
		if key.labels[0] == controller {
			delete(r.series, key)
			s.scope.End()
			r.release(key)
		}
	}
}

// Collect implements core.Part.
func (r *registry) Collect(ch chan<- prometheus.Metric) {
	r.mu.Lock()
	all := slices.Collect(maps.Values(r.series))
	r.mu.Unlock()
	for _, s := range all {
		if c, ok := s.series.(collector); ok {
			c.collect(ch)
		}
	}
}

// results count and time operations by the result with which they ended.
type results struct {
	count    *core.CounterSet
	duration *core.ObserverSet
}

// observe records an operation that took the given number of nanoseconds, with its trace ID unless that is empty.
func (r results) observe(result string, took int64, traceID string) {
	r.count.Inc(result)
	r.duration.ObserveTraced(result, core.Seconds(took), traceID)
}
