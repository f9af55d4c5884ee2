package ring

import (
	"math"
	"sync/atomic"
)

// Cursor is a handler's place in a Ring. Find and Done belong to the goroutine that calls the handler; Backlog may be
// called by any.
type Cursor struct {
	ring *Ring
	// place is the number of the first event that is not done, doubled, plus one if the handler is at it.
	place atomic.Uint64
	// settled is the number of the first event that will certainly reach the handler.
	settled atomic.Uint64
	// last is the resourceVersion that was found last.
	last uint64
	// overrun is set from the moment that events were overwritten until the cursor is among remembered ones again.
	overrun bool
}

// NewCursor returns a cursor behind the events that were pushed so far. It has no backlog until Settle is called.
func (r *Ring) NewCursor() *Cursor {
	c := &Cursor{ring: r}
	c.place.Store(r.head.Load() << 1)
	c.settled.Store(math.MaxUint64)
	return c
}

// Settle is called when the handler has been registered. Events that were pushed between NewCursor and Settle may or may
// not reach the handler, depending on which came first at the store: they are found if they do, and not waited for if
// they do not.
func (c *Cursor) Settle() {
	c.settled.Store(c.ring.head.Load())
}

// Found is the answer of Find.
type Found struct {
	// At is the time of receipt or, after an overrun, a later one.
	At int64
	// Lost is the number of events that were overwritten before the cursor reached them.
	Lost uint64
	// Match tells whether and how exactly the event was found.
	Match Match
}

// Match tells whether an event was found.
type Match uint8

// The outcomes of a search.
const (
	// None means that no watch event has the resourceVersion: the call was caused by a list, a resync or a late
	// registration.
	None Match = iota
	// Exact means that At is when the event was received.
	Exact
	// Overrun means that the event was overwritten: it was received before At.
	Overrun
)

// Find moves the cursor to the event with the given resourceVersion, past all earlier ones, and returns it.
// A resourceVersion that is not in the ring moves the cursor past the smaller ones only. Find does not allocate; each
// event is passed once.
func (c *Cursor) Find(rv uint64) (f Found) {
	next := c.place.Load() >> 1
	if floor := c.ring.floor.Load(); next < floor {
		next, c.last, c.overrun = floor, 0, false
	}
	for {
		if oldest := c.ring.oldest(); next < oldest {
			f.Lost += oldest - next
			next, c.overrun = oldest, true
		}
		if next >= c.ring.head.Load() {
			break
		}
		s := &c.ring.slots[next&c.ring.mask]
		have, at := s.rv.Load(), s.at.Load()
		if next < c.ring.oldest() {
			continue // overwritten while it was read
		}
		if have < rv {
			next++
			continue
		}
		if at < 0 {
			at = ^at
		}
		switch {
		case have == rv:
			f.At, f.Match = at, Exact
			c.last, c.overrun = rv, false
		case c.overrun && rv > c.last:
			f.At, f.Match = at, Overrun
			c.last = rv
		}
		break
	}
	place := next << 1
	if f.Match == Exact {
		place++
	}
	c.place.Store(place)
	return f
}

// Done moves the cursor past the event that Find returned as Exact.
func (c *Cursor) Done() {
	c.place.Store((c.place.Load()>>1 + 1) << 1)
}

// Busy tells whether the cursor is between Find and Done.
func (c *Cursor) Busy() bool {
	return c.place.Load()&1 == 1
}

// Backlog returns the number of events that are not done, those that will never arrive left out, and the time of
// receipt of the oldest of them. It costs a few nanoseconds for each of them.
func (c *Cursor) Backlog() (n uint64, oldest int64) {
	next := max(c.place.Load()>>1, c.settled.Load(), c.ring.floor.Load())
	if from := c.ring.oldest(); next < from {
		n, next = from-next, from
	}
	found := false
	for ; next < c.ring.head.Load(); next++ {
		at := c.ring.slots[next&c.ring.mask].at.Load()
		if at < 0 {
			continue
		}
		if !found {
			oldest, found = at, true
		}
		n++
	}
	return n, oldest
}
