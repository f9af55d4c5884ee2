package ring

import (
	"math"
	"slices"
	"sync/atomic"
)

// Cursor is the position of a handler in a Ring. Only the goroutine that calls the handler may call Find and Done; any may
// call Backlog.
type Cursor struct {
	ring *Ring
	// place is twice the number of the first event that is not done, plus one while the handler runs for it.
	place atomic.Uint64
	// certain is the number of the first event that will certainly reach the handler.
	certain atomic.Uint64
	// last is the last resourceVersion that was found.
	last uint64
	// overrun is set when events are overwritten, and reset when the cursor finds a remembered one.
	overrun bool
	// kept is the number of the first event that was pending before events were overwritten, keptAt when the oldest pending one was
	// received. The mutex of the Ring guards them.
	kept   uint64
	keptAt int64
}

// NewCursor returns a cursor after all events that were pushed so far. It has no backlog until Registered is called. The Ring
// grows, up to its size, to remember what the cursor has not passed, until Close is called.
func (r *Ring) NewCursor() *Cursor {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &Cursor{ring: r, kept: math.MaxUint64}
	c.place.Store(r.head.Load() << 1)
	c.certain.Store(math.MaxUint64)
	r.cursors = append(r.cursors, c)
	return c
}

// Close is called when the handler will get no more events. It may be called more than once.
func (c *Cursor) Close() {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	c.ring.cursors = slices.DeleteFunc(c.ring.cursors, func(other *Cursor) bool { return other == c })
}

// Registered is called after the handler was registered. Events that were pushed between NewCursor and Registered may or may not reach
// the handler: Find finds them, but they do not count as backlog.
func (c *Cursor) Registered() {
	c.certain.Store(c.ring.head.Load())
}

// Found is the result of Find.
type Found struct {
	// At is the time of receipt or, after an overrun, a later one.
	At int64
	// Lost is the number of events that were overwritten before the cursor reached them.
	Lost uint64
	// Match is how the event was found.
	Match Match
}

// Match is how an event was found.
type Match uint8

// Results of Find.
const (
	// None means that no watch event has the resourceVersion: the call comes from a list, a resync or a late registration.
	None Match = iota
	// Exact means that the event was received at At.
	Exact
	// Overrun means that the event was overwritten: it was received before At.
	Overrun
)

// Find moves the cursor past all events with smaller resourceVersions, and returns the event with the given one if the ring
// has it. It does not allocate, and passes each event once.
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
		s := c.ring.slot(next)
		have, at := s.rv.Load(), s.at.Load()
		if next < c.ring.oldest() {
			continue // overwritten during the read
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

// Busy reports whether the cursor is between Find and Done.
func (c *Cursor) Busy() bool {
	return c.place.Load()&1 == 1
}

// Backlog returns the number of events that are not done, except for dropped ones, and the time of receipt of the oldest. It
// takes a few nanoseconds per event. Overwritten events count, unless they were dropped. Their time of receipt is exact while the
// cursor does not move.
func (c *Cursor) Backlog() (n uint64, oldest int64) {
	next, found := c.pending(), false
	if from := c.ring.oldest(); next < from {
		at, known := c.keptFor(next)
		if oldest, found = at, at > 0; found || !known {
			n = from - next
		}
		next = from
	}
	for ; next < c.ring.head.Load(); next++ {
		at := c.ring.slot(next).at.Load()
		if at < 0 {
			continue
		}
		if !found {
			oldest, found = at, true
		}
		n++
	}
	if !found {
		return 0, 0
	}
	return n, oldest
}

// pending returns the number of the first event that counts as backlog.
func (c *Cursor) pending() uint64 {
	return max(c.place.Load()>>1, c.certain.Load(), c.ring.floor.Load())
}

// keptFor returns when the oldest pending event was received, 0 if it is not known, or if all overwritten events were dropped, which
// is known then.
func (c *Cursor) keptFor(pending uint64) (at int64, known bool) {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	if c.kept != pending {
		return 0, false
	}
	return c.keptAt, true
}

// keep remembers the time of receipt of the oldest pending event before the first one is overwritten. The last events may yet be
// dropped. Only Push calls it, with the mutex held.
func (c *Cursor) keep(pending, head uint64) {
	c.kept, c.keptAt = pending, 0
	for n := pending; (n == pending || n+dropSearch < head) && c.keptAt == 0; n++ {
		c.keptAt = max(0, c.ring.slot(n).at.Load())
	}
}
