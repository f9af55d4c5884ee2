package main

import (
	"os"
	"runtime/debug"
)

// gcPercent is the growth of the heap that triggers garbage collection. The live heap is mostly caches, which hardly change: at
// 20 instead of Go's default of 100, collections stay cheap, and garbage is at most about a sixth of the heap.
const gcPercent = 20

// setGCPercent applies gcPercent, unless $GOGC is set.
func setGCPercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
