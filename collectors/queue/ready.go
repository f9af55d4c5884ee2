package queue

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// readyQueue is the innermost queue: the items that Get can return now.
type readyQueue[T comparable] struct {
	*workqueue.Typed[T]
	series *queueSeries
	clock  *readyClock
	// end deletes the queue's series.
	end func()
	// waiting is the number of workers in Get.
	waiting atomic.Int64

	// mu is held during client-go's Add and Done, so that each call of order can be attributed to one of them. It is never held
	// while a worker waits.
	mu    sync.Mutex
	order order[T]
	last  orderCall
	// readded holds items that were added again while they were processed.
	readded map[T]struct{}
	// pushed counts the items that became ready, done those that were finished. The difference is the number of items that are
	// ready or being processed.
	pushed, done uint64
	// shutdownSeen is set once Get has reported the shutdown.
	shutdownSeen bool
}

// Add implements workqueue.TypedInterface.
func (q *readyQueue[T]) Add(item T) { q.add(item) }

// add adds an item. It returns false if the queue has been shut down and ignores the item.
func (q *readyQueue[T]) add(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.Typed.Add(item)
	switch q.last.take() {
	case calledPush:
		q.pushed++
	case calledTouch:
		q.series.coalesced.Inc()
	case calledNone: // the queue has been shut down, or the item is being processed
		// An Add that is concurrent with a ShutDown may count as either.
		if q.ShuttingDown() {
			return false
		}
		if _, ok := q.readded[item]; ok {
			q.series.coalesced.Inc()
			break
		}
		if q.readded == nil {
			q.readded = map[T]struct{}{}
		}
		q.readded[item] = struct{}{}
	}
	return true
}

// Get implements workqueue.TypedInterface.
func (q *readyQueue[T]) Get() (item T, shutdown bool) {
	q.waiting.Add(1)
	item, shutdown = q.Typed.Get()
	q.waiting.Add(-1)
	if shutdown {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.shutdownSeen = true
		q.endIfIdle()
	}
	return item, shutdown
}

// Done implements workqueue.TypedInterface.
func (q *readyQueue[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.done < q.pushed { // otherwise the item is not being processed
		q.done++
	}
	if len(q.readded) > 0 {
		delete(q.readded, item)
	}
	q.Typed.Done(item)
	if q.last.take() == calledPush {
		q.pushed++
	}
	q.order.clear()
	q.endIfIdle()
}

// endIfIdle deletes the series once the queue can no longer change. The caller holds mu.
func (q *readyQueue[T]) endIfIdle() {
	if q.shutdownSeen && q.done >= q.pushed {
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

// find returns how long an item with the given property has been ready, and reports false if there is none.
func (q *readyQueue[T]) find(matches func(T) bool) (time.Duration, bool) {
	q.mu.Lock()
	since := q.order.find(matches)
	q.mu.Unlock()
	return time.Duration(q.clock.now() - since), since != 0
}

// workers implements queueState. Items in progress are those that became ready, minus those that were finished and those that
// are still ready.
func (q *readyQueue[T]) workers() (n int, known bool) {
	n = int(q.waiting.Load()) // first: a worker that takes an item now counts twice rather than not at all
	q.mu.Lock()
	defer q.mu.Unlock()
	return n + max(0, int(q.pushed-q.done)-q.Len()), true
}

// remaining returns the number of items that are ready, or that were added again while they were processed.
func (q *readyQueue[T]) remaining() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.Len() + len(q.readded)
}
