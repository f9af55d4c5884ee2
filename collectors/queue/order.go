package queue

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// order is the order in which a readyQueue hands out its items. client-go calls it with its own lock held. It calls Push and
// Touch only from Add and Done, during which readyQueue holds its lock too.
type order[T comparable] interface {
	workqueue.Queue[T]
	// since returns the time at which the oldest item was pushed, 0 if there is none. The caller holds readyQueue.mu. Pop may
	// run concurrently.
	since() int64
	// find returns when an item with the given property was pushed, 0 if there is none. As since, but it takes time in proportion to the
	// number of items.
	find(matches func(T) bool) int64
	// clear lets the garbage collector have items that were popped. As since.
	clear()
}

// orderCall is the last method that client-go has called on an order. Guarded by readyQueue.mu.
type orderCall int8

const (
	calledNone orderCall = iota
	calledPush
	calledTouch
)

// take returns the call and resets it.
func (c *orderCall) take() orderCall {
	taken := *c
	*c = calledNone
	return taken
}

// fifo is first in, first out, like client-go's default, and records when each item was pushed.
type fifo[T comparable] struct {
	clock *readyClock
	last  *orderCall
	ring  ageRing[T]
	// popped is nil unless the program traces.
	popped *recentItems[T]
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
func (f *fifo[T]) Pop() T {
	f.clock.popped = true
	if f.popped != nil {
		f.popped.push(f.ring.first())
	}
	return f.ring.take()
}

func (f *fifo[T]) clear() { f.ring.clear() }

func (f *fifo[T]) find(matches func(T) bool) int64 { return f.ring.find(matches) }

func (f *fifo[T]) since() int64 { return f.ring.since() }

// customOrder decorates Options.Order. It may hand out items in any order, so finding the oldest one takes a map.
type customOrder[T comparable] struct {
	workqueue.Queue[T]
	clock *readyClock
	last  *orderCall
	// popped is nil unless the program traces.
	popped *recentItems[T]

	mu   sync.Mutex
	ages ages[T]
}

var _ order[string] = &customOrder[string]{}

// Touch implements workqueue.Queue.
func (o *customOrder[T]) Touch(item T) {
	*o.last = calledTouch
	o.Queue.Touch(item)
}

// Push implements workqueue.Queue.
func (o *customOrder[T]) Push(item T) {
	*o.last = calledPush
	o.mu.Lock()
	o.ages.add(item, o.clock.pushed())
	o.mu.Unlock()
	o.Queue.Push(item)
}

// Pop implements workqueue.Queue.
func (o *customOrder[T]) Pop() T {
	item := o.Queue.Pop()
	o.clock.popped = true
	o.mu.Lock()
	at := o.ages.known[item]
	o.ages.remove(item)
	o.mu.Unlock()
	if o.popped != nil {
		o.popped.push(slot[T]{item, at})
	}
	return item
}

func (o *customOrder[T]) clear() {}

func (o *customOrder[T]) find(matches func(T) bool) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ages.find(matches)
}

func (o *customOrder[T]) since() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ages.since()
}
