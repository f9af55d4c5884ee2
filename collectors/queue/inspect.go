package queue

import (
	"maps"
	"slices"

	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
)

var _ inspection.Queues = &registry{}

// Queues implements inspection.Queues.
func (r *registry) Queues() []inspection.Queue {
	byController := map[string]*inspection.Queue{}
	for _, s := range r.queues.Values() {
		q := s.state()
		byController[s.controller] = &q
	}
	for _, s := range r.limiters.Values() {
		q := byController[s.controller]
		if q == nil {
			q = &inspection.Queue{Controller: s.controller}
			byController[s.controller] = q
		}
		for _, l := range s.current() {
			q.AddItems(l.find(r.Observer, func(string) bool { return true }))
		}
	}
	var all []inspection.Queue
	for _, controller := range slices.Sorted(maps.Keys(byController)) {
		q := byController[controller]
		q.AddItems(nil)
		all = append(all, *q)
	}
	return all
}
