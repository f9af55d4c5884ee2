package ring

import "sync/atomic"

// Ring remembers the last events of one watch stream. One goroutine at a time may call Push, Unpush and Restart, and
// another may call Drop; any number may use cursors.
type Ring struct {
	slots []slot
	mask  uint64
	// head is the number of events that were ever pushed; the event with the number n is in slots[n&mask].
	head atomic.Uint64
	// floor is the number of the first event whose resourceVersion can be compared with those of later ones.
	floor atomic.Uint64
}

type slot struct {
	rv atomic.Uint64
	// at is the time of receipt; its sign bit marks an event that will never reach a handler.
	at atomic.Int64
}

// New returns a Ring that remembers at least size-1 events, each at a cost of 16 bytes. Sizes are rounded up to a power
// of two, at least 2.
func New(size int) *Ring {
	n := 2
	for n < size {
		n <<= 1
	}
	return &Ring{slots: make([]slot, n), mask: uint64(n - 1)}
}

// Push remembers an event that was received at the given time, which must not be negative.
func (r *Ring) Push(rv uint64, at int64) {
	head := r.head.Load()
	s := &r.slots[head&r.mask]
	s.rv.Store(rv)
	s.at.Store(at)
	r.head.Store(head + 1)
}

// Unpush removes the event that was pushed last, which was not delivered.
func (r *Ring) Unpush() {
	r.head.Store(r.head.Load() - 1)
}

// Drop marks the latest event with the given resourceVersion as one that will never reach a handler, and reports whether it
// did. It searches only the last events, because a mark is set before the event reaches the store.
func (r *Ring) Drop(rv uint64) bool {
	head := r.head.Load()
	for n := head; n > 0 && head-n < dropSearch && head-n < uint64(len(r.slots)); n-- {
		if s := &r.slots[(n-1)&r.mask]; s.rv.Load() == rv {
			at := s.at.Load()
			if at >= 0 {
				s.at.Store(^at)
			}
			return at >= 0
		}
	}
	return false
}

// dropSearch is the number of events that Drop searches, more than can be between the watch and the store.
const dropSearch = 64

// Restart makes cursors skip all earlier events: resourceVersions have gone backwards, as after an etcd restore, and cannot
// be compared with earlier ones.
func (r *Ring) Restart() {
	r.floor.Store(r.head.Load())
}

// oldest returns the number of the first event that a concurrent Push cannot overwrite.
func (r *Ring) oldest() uint64 {
	head := r.head.Load()
	if keep := uint64(len(r.slots) - 1); head > keep {
		return head - keep
	}
	return 0
}
