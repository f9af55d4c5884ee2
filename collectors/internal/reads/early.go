package reads

import "sync/atomic"

// Early counts reads of a cache before its initial sync: they find nothing, which looks like an object that does not exist. A
// nil Early counts nothing. All methods are safe for concurrent use.
type Early struct {
	version func() string
	synced  func() bool
	count   func(n float64)
	over    atomic.Bool
}

// NewEarly returns an Early. version returns the version of the cache's content, which is empty at first. synced reports
// whether the cache has synced, because fake API servers have no versions. Neither may take a lock of the informer.
func NewEarly(version func() string, synced func() bool, count func(n float64)) *Early {
	return &Early{version: version, synced: synced, count: count}
}

// Read is called after a read that found nothing, or may have found too little. After the initial sync, it is one atomic load.
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
