package apiclient

import "github.com/informer-exporter/informer-exporter/collectors"

// MaxWritten is maxWritten, for tests.
const MaxWritten = maxWritten

// Written returns the number of objects with a remembered version.
func Written(obs *collectors.Observer) int {
	w := &registryOf(obs).written
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.versions)
}
