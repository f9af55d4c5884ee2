package reads

import "sync/atomic"

// Early counts reads of a cache that has no state yet: they find nothing, which looks like an object that does not exist. A nil
// Early counts nothing. All methods are safe for concurrent use.
type Early struct {
	version func() string
	synced  func() bool
	count   func(n float64)
	over    atomic.Bool
}

// NewEarly returns an Early, given the version of the cache's content, which is empty at first, and whether it has synced:
// fake API servers have no versions. Neither may take a lock of the informer.
func NewEarly(version func() string, synced func() bool, count func(n float64)) *Early {
	return &Early{version: version, synced: synced, count: count}
}

// Read is called after a read that found nothing, or may have found too little. It is one atomic load once the cache has a state.
func (e *Early) Read() {
	if e == nil || e.over.Load() {
		return
	}
	if e.version() != "" || e.synced() {
		e.over.Store(true)
		return
	}
	e.count(1)
}
