package queue

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// TrackerOptions describes the queue of a Tracker.
type TrackerOptions struct {
	// Merges is set if the queue holds each item at most once, so that adding a ready item with a delay has no effect, as in
	// controller-runtime's priority queue. In client-go's queues an item may be both ready and delayed.
	Merges bool
}

// Tracker reports coalesced adds, delayed items and the age of the oldest item of a queue that is created elsewhere, from the
// calls of Add and Get around it. An item that is added while it is processed counts as ready from then on. Where the queue
// can be created with NewTypedRateLimitingQueue, that is more exact.
//
// All methods are safe for concurrent use. A Tracker holds each item in a map as long as it is in the queue. Around
// controller-runtime's priority queue, an item takes up to a quarter longer from Add to Done.
type Tracker[T comparable] struct {
	options TrackerOptions
	series  *queueSeries
	now     func() int64
	leave   func()

	mu    sync.Mutex
	ended bool
	ready ages[T]
	// due is when each delayed item will be ready. order has at least one entry for each; others are outdated.
	due   map[T]int64
	order dueHeap[T]
}

// NewTracker returns a Tracker of the queue of a controller. Queues of one Observer with the same name share their series,
// which exist until End.
func NewTracker[T comparable](obs *collectors.Observer, name string, options TrackerOptions) *Tracker[T] {
	r := registryOf(obs)
	series, leave := r.joinQueue(name)
	t := &Tracker[T]{options: options, series: series, now: r.Now, leave: leave, due: map[T]int64{}}
	series.publish(t)
	return t
}

// RateLimiter decorates the queue's rate limiter: the delays that it returns are those with which the queue adds items.
func (t *Tracker[T]) RateLimiter(inner workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimiter[T] {
	return trackedLimiter[T]{inner, t}
}

type trackedLimiter[T comparable] struct {
	workqueue.TypedRateLimiter[T]
	tracker *Tracker[T]
}

// When implements workqueue.TypedRateLimiter.
func (l trackedLimiter[T]) When(item T) time.Duration {
	d := l.TypedRateLimiter.When(item)
	l.tracker.Add(item, d)
	return d
}

// Add must be called before an item is added, with its delay if that is positive. Items that are added with the rate limiter
// are known from it.
func (t *Tracker[T]) Add(item T, after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	now := t.settle()
	ready := t.ready.has(item)
	switch {
	case ready && (after <= 0 || t.options.Merges):
		t.series.coalesced.Inc()
	case after <= 0:
		if t.options.Merges {
			delete(t.due, item)
		}
		t.ready.add(item, now)
	default:
		t.delay(item, now+int64(after))
	}
}

// Get must be called after the queue has returned an item.
func (t *Tracker[T]) Get(item T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle()
	if t.ready.has(item) {
		t.ready.remove(item)
		return
	}
	delete(t.due, item) // the queue's clock is ahead
}

// End deletes the series. It must be called when the queue is shut down, and may be called again.
func (t *Tracker[T]) End() {
	t.mu.Lock()
	ended := t.ended
	t.ended = true
	t.mu.Unlock()
	if !ended {
		t.series.withdraw(t)
		t.leave()
	}
}

// delay records when a delayed item will be ready. The earliest time counts.
func (t *Tracker[T]) delay(item T, at int64) {
	if known, ok := t.due[item]; ok && known <= at {
		return
	}
	t.due[item] = at
	heap.Push(&t.order, slot[T]{item, at})
	if len(t.order) > 2*len(t.due)+firstSlots {
		t.order = t.order[:0]
		for item, at := range t.due {
			t.order = append(t.order, slot[T]{item, at})
		}
		heap.Init(&t.order)
	}
}

// settle makes items ready whose delay is over, in this order, and returns the current time.
func (t *Tracker[T]) settle() int64 {
	now := t.now()
	for len(t.order) > 0 && t.order[0].at <= now {
		first := heap.Pop(&t.order).(slot[T])
		if at, ok := t.due[first.item]; ok && at == first.at {
			delete(t.due, first.item)
			t.ready.add(first.item, at)
		}
	}
	return now
}

func (t *Tracker[T]) delayed() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle()
	return len(t.due)
}

func (t *Tracker[T]) oldest() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.settle()
	since := t.ready.since()
	if since == 0 {
		return 0
	}
	return time.Duration(now - since)
}

// dueHeap implements heap.Interface.
type dueHeap[T comparable] []slot[T]

// Len implements heap.Interface.
func (h dueHeap[T]) Len() int { return len(h) }

// Less implements heap.Interface.
func (h dueHeap[T]) Less(i, j int) bool { return h[i].at < h[j].at }

// Swap implements heap.Interface.
func (h dueHeap[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *dueHeap[T]) Push(x any) { *h = append(*h, x.(slot[T])) }

// Pop implements heap.Interface.
func (h *dueHeap[T]) Pop() any {
	last := (*h)[len(*h)-1]
	var zero slot[T]
	(*h)[len(*h)-1] = zero // for the garbage collector
	*h = (*h)[:len(*h)-1]
	return last
}
