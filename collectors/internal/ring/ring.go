// Package ring pairs watch events with the moments at which handlers finish them.
//
// The handlers of a shared informer are called with an ordered subsequence of the events that its watch received, mixed
// with calls that no watch event caused (lists, resyncs, late registrations). Counting calls therefore cannot tell which
// event a call belongs to, but the resourceVersion can. A Ring remembers the resourceVersion and the time of receipt of
// the last events, and a Cursor for each handler walks along it, so that pairing needs neither a map of objects nor a
// lock, and its memory does not grow with the number of objects.
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

// Push remembers an event that was received at the given time, which must not be negative, on a clock of the caller's.
func (r *Ring) Push(rv uint64, at int64) {
	head := r.head.Load()
	s := &r.slots[head&r.mask]
	s.rv.Store(rv)
	s.at.Store(at)
	r.head.Store(head + 1)
}

// Unpush forgets the event that was pushed last, because it was not handed on after all.
func (r *Ring) Unpush() {
	r.head.Store(r.head.Load() - 1)
}

// Drop marks the latest event with the given resourceVersion as one that will never reach a handler, and returns
// whether it did. Only the last few events are searched: the mark is set while the event is on its way to the store.
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

// dropSearch is more than the events that can be between the watch and the store.
const dropSearch = 64

// Restart makes the cursors skip what was pushed before: resourceVersions have gone back, as after a restored etcd, and
// can no longer be compared with earlier ones.
func (r *Ring) Restart() {
	r.floor.Store(r.head.Load())
}

// oldest returns the number of the first event that cannot be overwritten by the Push that may be under way.
func (r *Ring) oldest() uint64 {
	head := r.head.Load()
	if keep := uint64(len(r.slots) - 1); head > keep {
		return head - keep
	}
	return 0
}
