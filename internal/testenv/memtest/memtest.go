// Package memtest measures memory in tests.
package memtest

import "runtime"

// Allocated returns the bytes that f and everything beside it allocate, whether or not they are still in use: more than the heap grows
// at any time.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Heap returns the size of the heap after garbage collections.
func Heap() int64 {
	runtime.GC()
	runtime.GC() // also empties pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Kept returns how much the heap grows by the values that f returns or keeps.
func Kept(f func() any) int64 {
	before := Heap()
	kept := f()
	after := Heap()
	runtime.KeepAlive(kept)
	return after - before
}
