package queue

import (
	"container/heap"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/internal/causes"
	"github.com/informer-exporter/informer-exporter/collectors/internal/echo"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// TrackerOptions describes the queue of a Tracker.
type TrackerOptions struct {
	// Merges is set if the queue holds each item at most once, so adding a ready item with a delay has no effect, as in
	// controller-runtime's priority queue. In client-go's queues an item may be both ready and delayed.
	Merges bool
}

// Tracker reports coalesced adds, delayed items, the age of the oldest item and running workers of a queue that is created
// elsewhere. Call its methods around the queue's Add, Get and Done. An item that is added while it is processed counts as ready from
// then on. NewTypedRateLimitingQueue is more exact: prefer it for queues that it can create.
//
// All methods are safe for concurrent use. A Tracker holds each item in a map as long as it is in the queue. Around
// controller-runtime's priority queue, an item takes up to a quarter longer from Add to Done.
type Tracker[T comparable] struct {
	options TrackerOptions
	series  *queueSeries
	now     func() int64
	leave   func()
	// causes is nil unless the program traces.
	causes *causes.Queue[T]
	own    *echo.Items[T]
	// waited is set by the first call of Wait. waiting is the number of workers in the queue's Get, busy that of items in progress.
	waited        atomic.Bool
	waiting, busy atomic.Int64

	mu    sync.Mutex
	ended bool
	ready ages[T]
	// due is when each delayed item will be ready. order has at least one entry for each; others are outdated.
	due   map[T]int64
	order dueHeap[T]
}

// NewTracker returns a Tracker for the queue of a controller. Queues of one Observer with the same name share their series,
// which exist until End.
func NewTracker[T comparable](obs *collectors.Observer, name string, options TrackerOptions) *Tracker[T] {
	r := registryOf(obs)
	series, leave := r.joinQueue(name)
	t := &Tracker[T]{
		options: options, series: series, now: r.Now, leave: leave, due: map[T]int64{},
		causes: causes.Of[T](r.Observer, name).Join(), own: echo.NewItems[T](r.Observer, name, series.selfCaused),
	}
	series.add(t)
	return t
}

// RateLimiter decorates the queue's rate limiter and tracks the delays that it returns.
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
	l.tracker.add(item, d)
	return d
}

// Add must be called before an item is added, with its delay if that is positive. Do not call it for items that are added
// with the rate limiter, which RateLimiter tracks.
func (t *Tracker[T]) Add(item T, after time.Duration) {
	if after > 0 {
		t.causes.Added(item, spans.Requeued)
	} else {
		t.causes.Added(item, spans.Event)
	}
	t.own.Added(item)
	t.add(item, after)
}

// AddRateLimited must be called before an item is added with the rate limiter. It affects only traces, which show the item as a
// retry, and self-caused reconciles.
func (t *Tracker[T]) AddRateLimited(item T) {
	t.causes.Added(item, spans.Retried)
	t.own.Added(item)
}

func (t *Tracker[T]) add(item T, after time.Duration) {
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
		t.delay(item, now+min(int64(after), math.MaxInt64-now)) // such as rate.InfDuration
	}
}

// Wait must be called before each call of the queue's Get. Without it, running workers are not reported. With it, Get and Done
// must be called for each item.
func (t *Tracker[T]) Wait() {
	t.waiting.Add(1)
	if !t.waited.Load() {
		t.waited.Store(true)
	}
}

// Get must be called after the queue has returned an item.
func (t *Tracker[T]) Get(item T) {
	t.busy.Add(1)
	t.waiting.Add(-1)
	t.own.Got(item)
	ready := t.get(item)
	t.causes.Taken(item, t.causes.Choose(item), ready)
}

// get returns when the item became ready, 0 if that is not known.
func (t *Tracker[T]) get(item T) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle()
	if t.ready.has(item) {
		since := t.ready.known[item]
		t.ready.remove(item)
		return since
	}
	delete(t.due, item) // the queue's clock is ahead
	return 0
}

// Done must be called when a worker has finished an item. It affects only traces, running workers and self-caused reconciles.
func (t *Tracker[T]) Done(item T) {
	t.busy.Add(-1)
	t.causes.Done(item)
	t.own.Done(item)
}

// workers implements queueState.
func (t *Tracker[T]) workers() (n int, known bool) {
	n = int(t.waiting.Load()) // first: a worker that takes an item now counts twice rather than not at all
	return max(0, n+int(t.busy.Load())), t.waited.Load()
}

// End deletes the series. It must be called when the queue is shut down, and may be called again.
func (t *Tracker[T]) End() {
	t.mu.Lock()
	ended := t.ended
	t.ended = true
	t.mu.Unlock()
	if !ended {
		t.series.remove(t)
		t.leave()
		t.causes.Leave()
	}
}

// delay records when a delayed item will be ready. The earliest time wins.
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

// settle marks items with an expired delay as ready, in the order in which the delays expired, and returns the current time.
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

func (t *Tracker[T]) find(name string) (ready time.Duration, isReady, isDelayed bool) {
	matches := named[T](name)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.settle()
	if since := t.ready.find(matches); since != 0 {
		ready, isReady = time.Duration(now-since), true
	}
	for item := range t.due {
		isDelayed = isDelayed || matches(item)
	}
	return ready, isReady, isDelayed
}

func (t *Tracker[T]) depth() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle()
	return len(t.ready.known)
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
