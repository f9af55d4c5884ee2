package collectors

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// order is the order in which a readyQueue hands out its items. client-go calls it under a lock of its own that nobody
// else can take; Push and Touch are called from its Add and Done only, for which readyQueue holds a lock too.
type order[T comparable] interface {
	workqueue.Queue[T]
	// since returns the moment at which the item that has been ready longest was pushed, 0 if none is ready. Guarded by
	// readyQueue.mu, which does not keep Pop away.
	since() int64
}

// orderCall is what an order notes of what client-go has called, for the readyQueue. Guarded by readyQueue.mu.
type orderCall int8

const (
	calledNone orderCall = iota
	calledPush
	calledTouch
)

// take returns a call and forgets it.
func (c *orderCall) take() orderCall {
	taken := *c
	*c = calledNone
	return taken
}

// fifo is first in, first out, like client-go's own order, and remembers when each item was pushed.
type fifo[T comparable] struct {
	clock *addClock
	last  *orderCall
	ring  ageRing[T]
}

var _ order[string] = &fifo[string]{}

// Touch implements workqueue.Queue.
func (f *fifo[T]) Touch(T) { *f.last = calledTouch }

// Push implements workqueue.Queue.
func (f *fifo[T]) Push(item T) {
	*f.last = calledPush
	f.ring.push(item, f.clock.pushed())
}

// Len implements workqueue.Queue.
func (f *fifo[T]) Len() int { return f.ring.len() }

// Pop implements workqueue.Queue.
func (f *fifo[T]) Pop() T { return f.ring.pop() }

func (f *fifo[T]) since() int64 { return f.ring.since() }

// ownOrder is an order of the user's. In which order it hands out its items is not known, so that it takes a map to know
// which of them has been ready longest.
type ownOrder[T comparable] struct {
	workqueue.Queue[T]
	clock *addClock
	last  *orderCall

	mu   sync.Mutex
	ages ages[T]
}

var _ order[string] = &ownOrder[string]{}

// Touch implements workqueue.Queue.
func (o *ownOrder[T]) Touch(item T) {
	*o.last = calledTouch
	o.Queue.Touch(item)
}

// Push implements workqueue.Queue.
func (o *ownOrder[T]) Push(item T) {
	*o.last = calledPush
	o.mu.Lock()
	o.ages.add(item, o.clock.pushed())
	o.mu.Unlock()
	o.Queue.Push(item)
}

// Pop implements workqueue.Queue.
func (o *ownOrder[T]) Pop() T {
	item := o.Queue.Pop()
	o.mu.Lock()
	o.ages.remove(item)
	o.mu.Unlock()
	return item
}

func (o *ownOrder[T]) since() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ages.since()
}
