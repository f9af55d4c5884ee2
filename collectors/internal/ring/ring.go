package ring

import (
	"sync"
	"sync/atomic"
)

// Ring remembers the last events of one watch stream. One goroutine at a time may call Push, Unpush and Restart; any number may
// call Drop and use cursors. Reads take no lock, except for the backlog of a cursor that was overtaken.
type Ring struct {
	// buffer has the events. A larger one replaces it when a cursor falls behind.
	buffer atomic.Pointer[buffer]
	// head is the number of events that were ever pushed.
	head atomic.Uint64
	// floor is the number of the first event with a resourceVersion that can be compared with those of later ones.
	floor atomic.Uint64

	// passed is a number of events that all cursors have passed, as of some earlier Push. Only Push and Unpush use it.
	passed uint64

	// initial is the length of the first buffer, limit that of the largest.
	initial, limit int

	// mu is held while the buffer is replaced.
	mu      sync.Mutex
	cursors []*Cursor
}

// buffer has the event with the number n in slots[n&mask].
type buffer struct {
	slots []slot
	mask  uint64
	// first is the number of the first event that it has.
	first uint64
}

type slot struct {
	rv atomic.Uint64
	// at is the time of receipt, complemented for an event that will never reach a handler.
	at atomic.Int64
}

// initialSize is the length of the first buffer, which is enough for handlers that keep up. It is more than dropSearch.
const initialSize = 128

// empty is the buffer of all Rings without events. It is never written.
var empty = newBuffer(1, 0)

// New returns a Ring that remembers at least size-1 events, each at a cost of 16 bytes. It takes no buffer before the first
// event, and 2 KiB until a cursor is more than 126 events behind. Sizes are rounded up to a power of two, at least 2.
func New(size int) *Ring { return newRing(initialSize, size) }

func newRing(initial, size int) *Ring {
	limit := 2
	for limit < size {
		limit <<= 1
	}
	r := &Ring{initial: min(initial, limit), limit: limit}
	r.buffer.Store(empty)
	return r
}

func newBuffer(length int, first uint64) *buffer {
	return &buffer{slots: make([]slot, length), mask: uint64(length - 1), first: first}
}

// Push remembers an event that was received at the given time, which must not be negative. It allocates for the first event,
// and if a cursor is farther behind than ever before.
func (r *Ring) Push(rv uint64, at int64) {
	head, b := r.head.Load(), r.buffer.Load()
	if head-r.passed >= b.mask {
		b = r.makeRoom(head, b)
	}
	s := &b.slots[head&b.mask]
	s.rv.Store(rv)
	s.at.Store(at)
	r.head.Store(head + 1)
}

// makeRoom returns a larger buffer if the next event would overwrite one that a cursor has not passed, up to the limit. After that,
// cursors keep the time of receipt.
func (r *Ring) makeRoom(head uint64, b *buffer) *buffer {
	r.mu.Lock()
	defer r.mu.Unlock()
	passed := head
	if len(b.slots) == r.limit {
		oldest := head - b.mask
		for _, c := range r.cursors {
			pending := c.pending()
			if pending == oldest && c.kept != pending { // after Unpush, it may be kept
				c.keep(pending, head)
			}
			passed = min(passed, max(pending, oldest+1)) // at every event while a cursor is overtaken: it may move to the oldest one
		}
		r.passed = passed
		return b
	}
	for _, c := range r.cursors {
		passed = min(passed, max(c.place.Load()>>1, r.floor.Load()))
	}
	r.passed = passed
	if head-passed < b.mask {
		return b
	}
	larger := newBuffer(max(2*len(b.slots), r.initial), r.oldest())
	for n := larger.first; n < head; n++ {
		from, to := &b.slots[n&b.mask], &larger.slots[n&larger.mask]
		to.rv.Store(from.rv.Load())
		to.at.Store(from.at.Load())
	}
	r.buffer.Store(larger)
	return larger
}

// Unpush removes the event that was pushed last, which was not delivered.
func (r *Ring) Unpush() {
	r.head.Store(r.head.Load() - 1)
	r.passed = 0 // a cursor may be nearer to the event that the next one overwrites
}

// Drop marks the latest event with the given resourceVersion as dropped: it never reaches a handler. It reports whether it marked
// one. It searches only the last events, because a mark is set before the event reaches the store.
func (r *Ring) Drop(rv uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	head, b := r.head.Load(), r.buffer.Load()
	for n := head; n > 0 && head-n < dropSearch && head-n < uint64(len(b.slots)); n-- {
		if s := &b.slots[(n-1)&b.mask]; s.rv.Load() == rv {
			at := s.at.Load()
			if at >= 0 {
				s.at.Store(^at)
			}
			return at >= 0
		}
	}
	return false
}

// dropSearch is the number of events that Drop and At search, more than can be between the watch and the store.
const dropSearch = 64

// After returns when the oldest remembered event with a higher resourceVersion was received, except for dropped ones. It reports
// false if there is none. It takes a few nanoseconds per such event.
func (r *Ring) After(rv uint64) (at int64, ok bool) {
	head := r.head.Load()
	for n := head; n > max(r.oldest(), r.floor.Load()); n-- {
		s := r.slot(n - 1)
		if s.rv.Load() <= rv {
			break
		}
		if received := s.at.Load(); received >= 0 {
			at, ok = received, true
		}
	}
	return at, ok
}

// At returns when the event with the given resourceVersion was received. It reports false if the ring does not remember it.
// It takes a few nanoseconds per event received since.
func (r *Ring) At(rv uint64) (at int64, ok bool) {
	for n := r.head.Load(); n > max(r.oldest(), r.floor.Load()); n-- {
		s := r.slot(n - 1)
		switch have := s.rv.Load(); {
		case have < rv:
			return 0, false
		case have == rv:
			at = s.at.Load()
			return max(at, ^at), n > r.oldest() // otherwise overwritten during the read
		}
	}
	return 0, false
}

// Last returns when the event that was pushed last was received, 0 before the first one.
func (r *Ring) Last() int64 {
	head := r.head.Load()
	if head == 0 {
		return 0
	}
	at := r.slot(head - 1).at.Load()
	return max(at, ^at)
}

// Restart makes cursors skip all earlier events: resourceVersions have gone backwards, as after an etcd restore, and cannot
// be compared with earlier ones.
func (r *Ring) Restart() {
	r.floor.Store(r.head.Load())
}

// oldest returns the number of the first event that a concurrent Push cannot overwrite. It reads head first: a buffer that
// replaces another one has all events that the other had then.
func (r *Ring) oldest() uint64 {
	head := r.head.Load()
	b := r.buffer.Load()
	if head > b.mask {
		return max(b.first, head-b.mask)
	}
	return b.first
}

// slot returns the slot of an event. The caller has read head before, so the buffer has the event unless it is older than oldest.
func (r *Ring) slot(n uint64) *slot {
	b := r.buffer.Load()
	return &b.slots[n&b.mask]
}
