package collectors

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// readyQueue is the innermost part: the items that can be taken now.
type readyQueue[T comparable] struct {
	*workqueue.Typed[T]
	series *queueSeries
	clock  *addClock
	// end deletes the queue's series.
	end func()

	// mu is held during client-go's Add and Done, so that what they call of order belongs to them. It is never held while
	// a worker waits.
	mu    sync.Mutex
	order order[T]
	last  orderCall
	// again holds the items that have been added while they were processed.
	again map[T]struct{}
	// pushed and done count how often items have become ready and been finished: the difference is ready or processed.
	pushed, done uint64
	// told is set when a worker has been told that the queue has shut down.
	told bool
}

// Add implements workqueue.TypedInterface.
func (q *readyQueue[T]) Add(item T) { q.add(item) }

// add adds an item, and tells whether the queue has taken it, which it does not after its shutdown.
func (q *readyQueue[T]) add(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.Typed.Add(item)
	switch q.last.take() {
	case calledPush:
		q.pushed++
	case calledTouch:
		q.series.coalesced.Inc()
	case calledNone: // it has been shut down, or the item is being processed
		// Of an Add and a ShutDown at the same time, nobody can say which was first.
		if q.ShuttingDown() {
			return false
		}
		if _, ok := q.again[item]; ok {
			q.series.coalesced.Inc()
			break
		}
		if q.again == nil {
			q.again = map[T]struct{}{}
		}
		q.again[item] = struct{}{}
	}
	return true
}

// Get implements workqueue.TypedInterface.
func (q *readyQueue[T]) Get() (item T, shutdown bool) {
	item, shutdown = q.Typed.Get()
	if shutdown {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.told = true
		q.endIfIdle()
	}
	return item, shutdown
}

// Done implements workqueue.TypedInterface.
func (q *readyQueue[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done++
	if len(q.again) > 0 {
		delete(q.again, item)
	}
	q.Typed.Done(item)
	if q.last.take() == calledPush {
		q.pushed++
	}
	q.endIfIdle()
}

// endIfIdle deletes the series when nothing can happen in the queue any more. Guarded by mu.
func (q *readyQueue[T]) endIfIdle() {
	if q.told && q.done >= q.pushed {
		q.end()
	}
}

func (q *readyQueue[T]) oldest() time.Duration {
	q.mu.Lock()
	since := q.order.since()
	q.mu.Unlock()
	if since == 0 {
		return 0
	}
	return time.Duration(q.clock.now() - since)
}

// pending returns how many items a queue that nobody works on any more still holds.
func (q *readyQueue[T]) pending() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.Len() + len(q.again)
}
