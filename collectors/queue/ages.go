package queue

import (
	"math/bits"
	"sync/atomic"
)

// ages records when items became ready, for queues that hand them out in any order.
type ages[T comparable] struct {
	known map[T]int64
	// ring holds the known items in the order of their arrival, and some that have been removed since.
	ring ageRing[T]
}

// add adds an item that became ready at the given time, unless it is known. Times must not decrease.
func (a *ages[T]) add(item T, at int64) {
	if a.has(item) {
		return
	}
	if a.known == nil {
		a.known = map[T]int64{}
	}
	a.known[item] = at
	a.ring.push(item, at)
}

// remove removes an item, if it is known.
func (a *ages[T]) remove(item T) {
	if !a.has(item) {
		return
	}
	delete(a.known, item)
	for a.ring.len() > 0 && !a.isCurrent(a.ring.first()) {
		a.ring.pop()
	}
	if a.ring.len() > 2*len(a.known)+firstSlots { // removed items behind one that remains
		for range a.ring.len() {
			s := a.ring.first()
			a.ring.pop()
			if a.isCurrent(s) {
				a.ring.push(s.item, s.at)
			}
		}
	}
}

func (a *ages[T]) has(item T) bool {
	_, ok := a.known[item]
	return ok
}

// isCurrent reports whether the item of a slot has not been removed since it was pushed.
func (a *ages[T]) isCurrent(s slot[T]) bool {
	at, ok := a.known[s.item]
	return ok && at == s.at
}

// find returns when a known item with the given property became ready, 0 if there is none.
func (a *ages[T]) find(matches func(T) bool) int64 {
	for item, at := range a.known {
		if matches(item) {
			return at
		}
	}
	return 0
}

func (a *ages[T]) since() int64 { return a.ring.since() }

// ageRing is a first in, first out queue of items with the time of their arrival. It allocates only to grow and to shrink. take
// may be called concurrently with since, clear and find; all other methods need a lock.
type ageRing[T comparable] struct {
	// The length of slots is 0 or a power of two. A popped item is zeroed, so that it can be garbage-collected.
	slots []slot[T]
	// pushed and popped count items. The n-th item has slot n modulo the length.
	pushed uint64
	popped atomic.Uint64
	// cleared is the number of popped items that were zeroed.
	cleared uint64
}

type slot[T comparable] struct {
	item T
	at   int64
}

// A ring starts with firstSlots, and never shrinks below keptSlots.
const (
	firstSlots = 16
	keptSlots  = 1024
)

func (r *ageRing[T]) slot(n uint64) *slot[T] { return &r.slots[n&uint64(len(r.slots)-1)] }

func (r *ageRing[T]) len() int { return int(r.pushed - r.popped.Load()) }

func (r *ageRing[T]) first() slot[T] { return *r.slot(r.popped.Load()) }

// since returns the time of the first item, 0 if there is none.
func (r *ageRing[T]) since() int64 {
	n := r.popped.Load()
	if n == r.pushed {
		return 0
	}
	return r.slot(n).at
}

func (r *ageRing[T]) push(item T, at int64) {
	r.clear()
	switch n := r.len(); {
	case n == len(r.slots):
		r.resize(max(firstSlots, 2*n))
	case len(r.slots) > keptSlots && n <= len(r.slots)/8:
		r.resize(keptSlots * (1 + n/keptSlots))
	}
	*r.slot(r.pushed) = slot[T]{item, at}
	r.pushed++
}

func (r *ageRing[T]) pop() (item T) {
	item = r.take()
	r.clear()
	return item
}

// take is pop without clear, for an item that is not zeroed yet because another goroutine may be reading it.
func (r *ageRing[T]) take() T {
	n := r.popped.Load()
	item := r.slot(n).item
	r.popped.Store(n + 1)
	return item
}

// clear zeroes items that were taken.
func (r *ageRing[T]) clear() {
	var zero T
	for taken := r.popped.Load(); r.cleared < taken; r.cleared++ {
		r.slot(r.cleared).item = zero
	}
}

// find returns when an item with the given property was pushed, 0 if there is none.
func (r *ageRing[T]) find(matches func(T) bool) int64 {
	for n := r.popped.Load(); n != r.pushed; n++ {
		if s := r.slot(n); matches(s.item) {
			return s.at
		}
	}
	return 0
}

// resize moves the items to a ring of at least the given length, which must be greater than the number of items.
func (r *ageRing[T]) resize(length int) {
	moved := make([]slot[T], 1<<bits.Len(uint(length-1)))
	for n := r.popped.Load(); n != r.pushed; n++ {
		moved[n&uint64(len(moved)-1)] = *r.slot(n)
	}
	r.slots, r.cleared = moved, r.popped.Load()
}
