package collectors

import (
	"container/heap"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// WrapQueue decorates a queue that exists already, as far as it can be seen from outside. NewQueue sees more:
//
//   - How long AddRateLimited lets an item wait is not seen: items in back-off are in neither
//     controller_queue_delayed_items nor Remaining. Their retries and back-off are reported by RateLimiter, given to the
//     queue when that is made.
//   - An item of AddAfter is taken to wait until its time has come by the clock. What it and AddRateLimited add is not
//     seen again until a worker gets it: it is not the oldest item, and an Add that becomes one with it is not counted.
//   - An Add in the moment in which a worker is given the same item counts as one that became one with it, although the
//     queue takes it for a new one, and what it adds is not seen until a worker gets it.
//   - client-go's own metrics are those that the queue was made with.
//
// It costs some map entries for each item, about 250 ns. The series live as those of NewQueue. What is a Queue already is
// returned as it is.
//
// Do not wrap controller-runtime's priority queue: what is returned is none, so that controller-runtime would no longer
// use priorities. Decorate its rate limiter instead.
func WrapQueue[T comparable](obs *Observer, controller string, q workqueue.TypedRateLimitingInterface[T]) *Queue[T] {
	if own, ok := q.(*Queue[T]); ok {
		return own
	}
	series, leave := obs.joinQueue(controller)
	w := &wrappedQueue[T]{TypedRateLimitingInterface: q, series: series, now: obs.now}
	w.end = sync.OnceFunc(func() {
		series.withdraw(w)
		leave()
	})
	return newQueue(series, w, w.end)
}

// wrappedQueue observes a queue from outside. It notes an item before the queue gets it, so that no worker can be faster.
type wrappedQueue[T comparable] struct {
	workqueue.TypedRateLimitingInterface[T]
	series *queueSeries
	now    func() int64
	// end deletes the queue's series.
	end func()

	// inside is how many calls of the queue's Get and Done are being made: what an item is then is known only to the queue.
	inside atomic.Int64

	// mu is not held while the queue is called, but for Len.
	mu      sync.Mutex
	ready   ages[T]
	delayed delays[T]
	// processed holds what workers have, and whether it has been added again meanwhile.
	processed map[T]bool
	// closed is set by the shutdown: what waits then is never ready. told is set when a worker has heard of it.
	closed, told bool
}

// Add implements workqueue.TypedInterface.
func (q *wrappedQueue[T]) Add(item T) {
	if !q.ShuttingDown() {
		q.added(item)
	}
	q.TypedRateLimitingInterface.Add(item)
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *wrappedQueue[T]) AddAfter(item T, d time.Duration) {
	switch {
	case q.ShuttingDown():
	case d > 0:
		q.mu.Lock()
		q.expire()
		q.delayed.add(item, q.now()+int64(d))
		q.mu.Unlock()
	default:
		q.added(item)
	}
	q.TypedRateLimitingInterface.AddAfter(item, d)
}

// added notes an item that is ready at once, or when the worker that has it is done.
func (q *wrappedQueue[T]) added(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch again, processed := q.processed[item]; {
	case again || q.ready.has(item):
		q.series.coalesced.Inc()
	case processed:
		q.processed[item] = true
	default:
		q.ready.add(item, q.now())
	}
}

// Get implements workqueue.TypedInterface.
func (q *wrappedQueue[T]) Get() (item T, shutdown bool) {
	q.inside.Add(1)
	item, shutdown = q.TypedRateLimitingInterface.Get()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inside.Add(-1)
	if shutdown {
		q.told = true
		q.endIfIdle()
		return item, shutdown
	}
	q.ready.remove(item)
	if q.processed == nil {
		q.processed = map[T]bool{}
	}
	q.processed[item] = false
	return item, shutdown
}

// Done implements workqueue.TypedInterface.
func (q *wrappedQueue[T]) Done(item T) {
	q.mu.Lock()
	if q.processed[item] {
		q.ready.add(item, q.now())
	}
	delete(q.processed, item)
	q.inside.Add(1)
	q.mu.Unlock()
	q.TypedRateLimitingInterface.Done(item)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inside.Add(-1)
	q.endIfIdle()
}

// ShutDown implements workqueue.TypedInterface.
func (q *wrappedQueue[T]) ShutDown() {
	q.close()
	q.TypedRateLimitingInterface.ShutDown()
}

// ShutDownWithDrain implements workqueue.TypedInterface.
func (q *wrappedQueue[T]) ShutDownWithDrain() {
	q.close()
	q.TypedRateLimitingInterface.ShutDownWithDrain()
}

func (q *wrappedQueue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire()
	q.closed = true
}

// expire removes the items that do not wait any more. Guarded by mu.
func (q *wrappedQueue[T]) expire() {
	if !q.closed && len(q.delayed.queue) > 0 {
		q.delayed.expire(q.now())
	}
}

// endIfIdle deletes the series when nothing can happen in the queue any more. Whoever takes an item out of the queue is
// inside before Len tells so. Guarded by mu.
func (q *wrappedQueue[T]) endIfIdle() {
	if q.told && len(q.processed) == 0 && q.Len() == 0 && q.inside.Load() == 0 {
		q.end()
	}
}

func (q *wrappedQueue[T]) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire()
	return len(q.delayed.until)
}

func (q *wrappedQueue[T]) oldest() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if since := q.ready.since(); since != 0 {
		return time.Duration(q.now() - since)
	}
	return 0
}

// left counts what the queue says that it has ready, and of all else what has been seen.
func (q *wrappedQueue[T]) left() int {
	n := q.Len() + q.waiting()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, again := range q.processed {
		if again {
			n++
		}
	}
	return n
}

// delays holds items until their time has come. As in client-go's queue, each is there once, with its earliest time.
type delays[T comparable] struct {
	until map[T]int64
	// queue holds what until holds, and what has got an earlier time since.
	queue delayHeap[T]
}

func (d *delays[T]) add(item T, until int64) {
	if known, ok := d.until[item]; ok && known <= until {
		return
	}
	if d.until == nil {
		d.until = map[T]int64{}
	}
	d.until[item] = until
	heap.Push(&d.queue, slot[T]{item, until})
}

// expire removes the items whose time has come.
func (d *delays[T]) expire(now int64) {
	for len(d.queue) > 0 && d.queue[0].at <= now {
		if s := heap.Pop(&d.queue).(slot[T]); d.until[s.item] == s.at {
			delete(d.until, s.item)
		}
	}
}

// delayHeap is a heap of items by time.
type delayHeap[T comparable] []slot[T]

func (h delayHeap[T]) Len() int           { return len(h) }
func (h delayHeap[T]) Less(i, j int) bool { return h[i].at < h[j].at }
func (h delayHeap[T]) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *delayHeap[T]) Push(s any) { *h = append(*h, s.(slot[T])) }

// Pop implements heap.Interface.
func (h *delayHeap[T]) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = slot[T]{}
	*h = (*h)[:last]
	return s
}
