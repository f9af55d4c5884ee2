package collectors

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// delayingQueue is client-go's delaying queue, with a mirror of the items that wait in it.
type delayingQueue[T comparable] struct {
	workqueue.TypedDelayingInterface[T]
	mirror *waitingItems[T]
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *delayingQueue[T]) AddAfter(item T, d time.Duration) {
	switch {
	case q.ShuttingDown(): // it will be ignored
	case d > 0:
		q.mirror.wait(item)
	default:
		q.mirror.pass(item)
	}
	q.TypedDelayingInterface.AddAfter(item, d)
}

// dueQueue is what client-go's delaying queue adds items to: those whose time has come, and those without a delay.
type dueQueue[T comparable] struct {
	*readyQueue[T]
	mirror *waitingItems[T]
}

// Add implements workqueue.TypedInterface.
func (q dueQueue[T]) Add(item T) {
	waited := q.mirror.arrive(item)
	if !q.add(item) && waited {
		q.mirror.wait(item) // the queue has been shut down meanwhile: the item will never be ready
	}
}

// waitingItems mirrors the items that wait for their time in client-go's delaying queue, which nobody else can see. Like
// that queue it knows each item once, however often it was added.
//
// It is one item short where two delays of the same item meet: the first is over, by which the item leaves the mirror,
// while the second is still on its way to client-go's goroutine, which then lets the item wait again. That takes an
// AddAfter in the very moment in which the item becomes ready, or a second delay that is over before that goroutine has
// heard of it, and lasts until the other delay is over. An item never stays in the mirror longer than in the queue.
type waitingItems[T comparable] struct {
	mu    sync.Mutex
	items map[T]struct{}
	// passing counts the adds without a delay that have not arrived yet: they end nobody's wait.
	passing map[T]int
}

// wait lets an item wait.
func (w *waitingItems[T]) wait(item T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.items == nil {
		w.items = map[T]struct{}{}
	}
	w.items[item] = struct{}{}
}

// pass announces the arrival of an item that need not wait.
func (w *waitingItems[T]) pass(item T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.passing == nil {
		w.passing = map[T]int{}
	}
	w.passing[item]++
}

// arrive ends the wait of an item, unless it arrives because it need not wait. It tells whether the item has waited.
func (w *waitingItems[T]) arrive(item T) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch n := w.passing[item]; {
	case n > 1:
		w.passing[item] = n - 1
		return false
	case n == 1:
		delete(w.passing, item)
		return false
	}
	_, waited := w.items[item]
	delete(w.items, item)
	return waited
}

func (w *waitingItems[T]) len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.items)
}
