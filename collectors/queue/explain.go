package queue

import (
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
)

var _ inspection.Explainer = &registry{}

// named returns a function that reports whether an item has the given name.
func named[T comparable](name string) func(T) bool {
	return func(item T) bool { return inspection.Name(item) == name }
}

// Explain implements inspection.Explainer. Queues do not know the resource of an item, so it finds the keys of all controllers.
func (r *registry) Explain(e *inspection.Explanation) {
	for _, s := range r.limiters.Values() {
		for _, l := range s.current() {
			for _, item := range l.find(r.Observer, func(name string) bool { return name == e.Key() }) {
				e.Of(s.controller).Retried = &item
			}
		}
	}
	for _, s := range r.queues.Values() {
		for _, q := range s.current() {
			ready, isReady, isDelayed := q.find(e.Key())
			if isReady {
				since := time.Now().Add(-ready).UTC()
				e.Of(s.controller).ReadySince = &since
				if n, known := q.workers(); known && n == 0 {
					e.Add(inspection.NoWorkers, "controller %s has no running worker; the item has been ready for %s", s.controller, inspection.Ago(ready))
				} else {
					e.Add(inspection.Queueing, "the item has been ready for %s in the queue of controller %s; ready items: %d", inspection.Ago(ready), s.controller, q.depth())
				}
			}
			if isDelayed {
				e.Of(s.controller).Delayed = true
			}
		}
	}
	for _, q := range e.Queues {
		controller := q.Controller
		switch i := q.Retried; {
		case i == nil:
		case i.BackoffSeconds > 0:
			e.Add(inspection.BackingOff, "controller %s has retried the item %d times in %s; next attempt in %s",
				controller, i.Retries, inspection.Ago(seconds(i.AgeSeconds)), inspection.Ago(seconds(i.BackoffSeconds)))
		default:
			e.Add(inspection.KeepsFailing, "controller %s has retried the item %d times in %s; it is ready, being processed, or was dropped without Forget",
				controller, i.Retries, inspection.Ago(seconds(i.AgeSeconds)))
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
