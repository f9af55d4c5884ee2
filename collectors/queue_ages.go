package collectors

import (
	"math/bits"
	"sync/atomic"
)

// ages knows since when items are ready, whatever the order in which they leave.
type ages[T comparable] struct {
	known map[T]int64
	// ring holds what is known in the order in which it came, and what has left since.
	ring ageRing[T]
}

// add adds an item that is ready since a moment, unless it is there already. Moments must not go back.
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

// remove removes an item that may be there.
func (a *ages[T]) remove(item T) {
	if !a.has(item) {
		return
	}
	delete(a.known, item)
	for a.ring.len() > 0 && !a.stays(a.ring.first()) {
		a.ring.pop()
	}
	if a.ring.len() > 2*len(a.known)+firstSlots { // an item at the head stays while others come and go
		for range a.ring.len() {
			s := a.ring.first()
			a.ring.pop()
			if a.stays(s) {
				a.ring.push(s.item, s.at)
			}
		}
	}
}

func (a *ages[T]) has(item T) bool {
	_, ok := a.known[item]
	return ok
}

func (a *ages[T]) stays(s slot[T]) bool {
	at, ok := a.known[s.item]
	return ok && at == s.at
}

func (a *ages[T]) since() int64 { return a.ring.since() }

// ageRing is a queue of items with the moments at which they came. It does not allocate once it has room for the longest
// queue. pop may be called concurrently with since; all else needs a lock.
type ageRing[T comparable] struct {
	// slots has a power of two as length, or none. Items are zeroed when they leave, so that they can be collected.
	slots []slot[T]
	// pushed and popped count. The slot of the n-th item is n modulo the length.
	pushed uint64
	popped atomic.Uint64
}

type slot[T comparable] struct {
	item T
	at   int64
}

// Lengths of a ring: the first one, and the one up to which it stays although there are few items.
const (
	firstSlots = 16
	keptSlots  = 1024
)

func (r *ageRing[T]) slot(n uint64) *slot[T] { return &r.slots[n&uint64(len(r.slots)-1)] }

func (r *ageRing[T]) len() int { return int(r.pushed - r.popped.Load()) }

func (r *ageRing[T]) first() slot[T] { return *r.slot(r.popped.Load()) }

// since returns the moment of the first item, 0 if there is none.
func (r *ageRing[T]) since() int64 {
	n := r.popped.Load()
	if n == r.pushed {
		return 0
	}
	return r.slot(n).at
}

func (r *ageRing[T]) push(item T, at int64) {
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
	n := r.popped.Load()
	s := r.slot(n)
	item, s.item = s.item, item
	r.popped.Store(n + 1)
	return item
}

// resize moves the items to a ring of at least the given length, which must be more than there are.
func (r *ageRing[T]) resize(length int) {
	moved := make([]slot[T], 1<<bits.Len(uint(length-1)))
	for n := r.popped.Load(); n != r.pushed; n++ {
		moved[n&uint64(len(moved)-1)] = *r.slot(n)
	}
	r.slots = moved
}
