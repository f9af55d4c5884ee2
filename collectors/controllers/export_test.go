package controllers

import "github.com/informer-exporter/informer-exporter/collectors"

// Limits for tests.
const (
	MaxCleanups   = maxCleanups
	CleanupMemory = cleanupMemory
	MaxWrites     = maxWrites
	MaxWriteAge   = maxWriteAge
)

// Remembered returns the number of objects that are checked for their deadline.
func Remembered(obs *collectors.Observer, controller, finalizer string) int {
	c := lookUp[*cleanups](registryOf(obs), controller, finalizer)
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.objects)
}

// Remembered returns the number of remembered writes.
func (w *Writes[K]) Remembered() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.writes)
}
