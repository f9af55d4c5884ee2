package queue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// delayingQueue is client-go's delaying queue with a mirror of its delayed items.
type delayingQueue[T comparable] struct {
	workqueue.TypedDelayingInterface[T]
	mirror *delayedItems[T]
}

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *delayingQueue[T]) AddAfter(item T, d time.Duration) {
	switch {
	case q.ShuttingDown(): // the item will be ignored
	case d > 0:
		q.mirror.delay(item)
	default:
		q.mirror.expect(item)
	}
	q.TypedDelayingInterface.AddAfter(item, d)
}

// dueQueue is the queue to which client-go's delaying queue adds items that are due, and items without a delay.
type dueQueue[T comparable] struct {
	*readyQueue[T]
	mirror *delayedItems[T]
}

// Add implements workqueue.TypedInterface.
func (q dueQueue[T]) Add(item T) {
	delayed := q.mirror.arrive(item)
	if !q.add(item) && delayed {
		q.mirror.delay(item) // the queue has been shut down in the meantime: the item will never be ready
	}
}

// delayedItems mirrors the delayed items of client-go's delaying queue, which does not expose them. Like that queue it holds
// each item once, however often it was added.
//
// It can miss an item while two delays of the item overlap: the end of the first delay removes the item from the mirror before
// client-go's goroutine has received the second and delays the item again. This requires an AddAfter just when the item becomes
// ready, or a second delay that ends before the goroutine has received it. The mirror lacks the item until the other delay ends.
// The mirror never holds an item longer than the queue.
type delayedItems[T comparable] struct {
	mu    sync.Mutex
	items map[T]struct{}
	// expected counts adds without a delay that have not arrived yet: their arrival does not end a delay.
	expected map[T]int
}

// delay adds an item.
func (m *delayedItems[T]) delay(item T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.items == nil {
		m.items = map[T]struct{}{}
	}
	m.items[item] = struct{}{}
}

// expect announces the arrival of an item that is not delayed.
func (m *delayedItems[T]) expect(item T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.expected == nil {
		m.expected = map[T]int{}
	}
	m.expected[item]++
}

// arrive removes an item, unless its arrival was expected. It reports whether the item was removed.
func (m *delayedItems[T]) arrive(item T) (removed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch n := m.expected[item]; {
	case n > 1:
		m.expected[item] = n - 1
		return false
	case n == 1:
		delete(m.expected, item)
		return false
	}
	_, removed = m.items[item]
	delete(m.items, item)
	return removed
}

func (m *delayedItems[T]) has(matches func(T) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for item := range m.items {
		if matches(item) {
			return true
		}
	}
	return false
}

func (m *delayedItems[T]) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.items)
}
