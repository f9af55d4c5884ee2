package queue

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/internal/causes"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// recentItems holds items with a trace that a queue is handing out, because client-go's Get returns only the item. The trace
// needs the time at which the item became ready, and the queue latency waits for its exemplar, the trace ID. client-go calls
// push and then Observe in Get, with its own lock held. Items without a trace take no lock here.
type recentItems[T comparable] struct {
	causes *causes.Queue[T]
	// latency is the Observer's series of the queue latency, nil if other code reports it.
	latency prometheus.Observer

	// holds is set by push if the item has a trace. Guarded by client-go's lock.
	holds bool
	// held is the number of items in slots.
	held atomic.Int64

	mu sync.Mutex
	// slots holds each traced item from Pop until the decorator's Get returns it, at most maxRecent. Empty slots are reused.
	slots []recentItem[T]
	// n is the slot of the last item.
	n int
}

// maxRecent limits the slots. Beyond it, an item has no span.
const maxRecent = 1024

type recentItem[T comparable] struct {
	slot[T]
	choice causes.Choice
	// held is set until the item is taken.
	held bool
	// latency is reported when the item is taken, if hasLatency is set.
	latency    float64
	hasLatency bool
}

var _ workqueue.HistogramMetric = &recentItems[string]{}

func (r *recentItems[T]) push(s slot[T]) {
	choice := r.causes.Choose(s.item)
	r.holds = choice.Start
	if !r.holds {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n = slices.IndexFunc(r.slots, func(s recentItem[T]) bool { return !s.held })
	switch {
	case r.n >= 0:
	case len(r.slots) < maxRecent:
		r.n = len(r.slots)
		r.slots = append(r.slots, recentItem[T]{})
	default:
		r.holds = false
		return
	}
	r.slots[r.n] = recentItem[T]{slot: s, choice: choice, held: true}
	r.held.Add(1)
}

// Observe implements workqueue.HistogramMetric for the queue latency of the last item.
func (r *recentItems[T]) Observe(latency float64) {
	if !r.holds {
		r.latency.Observe(latency)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	last := &r.slots[r.n]
	last.latency, last.hasLatency = latency, true
}

// taken starts the trace of an item that Get returns, and reports its queue latency.
func (r *recentItems[T]) taken(item T) {
	if r.held.Load() == 0 {
		return
	}
	taken, ok := r.take(item)
	if !ok {
		return
	}
	traceID := r.causes.Taken(item, taken.choice, taken.at)
	if taken.hasLatency {
		core.Observe(r.latency, taken.latency, traceID)
	}
}

func (r *recentItems[T]) take(item T) (taken recentItem[T], ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.slots {
		if s := &r.slots[i]; s.held && s.item == item {
			taken = *s
			*s = recentItem[T]{} // for the garbage collector
			r.held.Add(-1)
			return taken, true
		}
	}
	return taken, false
}
