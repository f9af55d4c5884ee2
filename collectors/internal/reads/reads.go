package reads

import (
	"sync/atomic"
	"unsafe"
)

// Counter counts hits and misses of reads by key. All methods are safe for concurrent use. It takes about 1 KiB.
type Counter struct {
	_       stripe // the compiler reads the first byte to check for nil: it must not be written
	stripes [1 << stripeBits]stripe
}

const stripeBits = 4

// stripe fills one cache line, so that goroutines with different stripes do not disturb each other.
type stripe struct {
	hits, misses atomic.Uint64
	_            [48]byte
}

// NewCounter returns a Counter at 0. Its stripes are aligned to cache lines, because the runtime aligns allocations of this
// size to 64 bytes.
func NewCounter() *Counter { return &Counter{} }

// Hit counts a read that found an object. It is one atomic addition.
func (c *Counter) Hit() {
	var here struct{}
	c.stripes[stripeOf(unsafe.Pointer(&here))].hits.Add(1) //nolint:gosec // the address is only hashed
}

// Miss counts a read that found no object.
func (c *Counter) Miss() {
	var here struct{}
	c.stripes[stripeOf(unsafe.Pointer(&here))].misses.Add(1) //nolint:gosec // the address is only hashed
}

// stripeOf returns the stripe of a goroutine, given an address on its stack. Each goroutine has its own stack, so two of them
// rarely share a stripe; if they do, or if the stack moves, the count is still correct. The address is never dereferenced. A
// zero-size variable costs no store, for which an atomic addition would wait; a random number would cost 7 ns.
func stripeOf(onStack unsafe.Pointer) uint64 {
	return uint64(uintptr(onStack)) * fibonacci >> (64 - stripeBits)
}

// fibonacci is 2^64 divided by the golden ratio. The product has the entropy of all bits of a factor in its highest bits.
const fibonacci = 0x9E3779B97F4A7C15

// Hits returns the number of reads that found an object.
func (c *Counter) Hits() (n uint64) {
	for i := range c.stripes {
		n += c.stripes[i].hits.Load()
	}
	return n
}

// Misses returns the number of reads that found no object.
func (c *Counter) Misses() (n uint64) {
	for i := range c.stripes {
		n += c.stripes[i].misses.Load()
	}
	return n
}
