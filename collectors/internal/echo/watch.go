package echo

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/ring"
)

// Watch is what an informer has received, and the program's last writes to its resource. It does not refer to the informer, which
// would stay reachable. All methods are safe for concurrent use.
type Watch struct {
	// Version is the resourceVersion that was received last, 0 if none was a number.
	Version atomic.Uint64

	ring *ring.Ring
	// unanswered is the number of writes of controllers to the resource that have no response yet.
	unanswered atomic.Int64
	// writes is nil before the first write to the resource.
	writes atomic.Pointer[writes]
}

// maxWrites is the number of writes that a Watch remembers, in 24 KiB. It is a power of two.
const maxWrites = 1024

// writes are the last writes: version v is in slots[v%maxWrites]. Versions are numbers of the whole cluster, so writes overwrite each
// other at random, and an overwritten one has no effect on the mean.
type writes struct {
	seconds prometheus.Observer

	// mu is held while a write is recorded, and for events that are an echo. Other events take no lock.
	mu    sync.Mutex
	slots [maxWrites]slot
}

type slot struct {
	version atomic.Uint64
	// answered is when the response arrived, 0 once the write has an echo. Guarded by mu.
	answered int64
	// by is nil if no controller has written it. Guarded by mu.
	by *Writer
}

// New returns the Watch of an informer with the given memory of events.
func New(r *ring.Ring) *Watch { return &Watch{ring: r} }

// Own reports whether the program has written a version. It takes one comparison.
func (w *Watch) Own(version uint64) bool {
	all := w.writes.Load()
	return all != nil && all.slots[version%maxWrites].version.Load() == version
}

// Received records an event, after its version was stored and remembered. at is the time of receipt. An event that is no echo costs one
// comparison.
func (w *Watch) Received(version uint64, at int64) {
	if w.Own(version) {
		w.writes.Load().echoed(version, at)
	}
}

// Listed records an object of a list, before the version of the list is stored. Objects that the informer has received before are no
// echo. now returns the time.
func (w *Watch) Listed(version uint64, now func() int64) {
	if w.Own(version) && version > w.Version.Load() {
		w.writes.Load().echoed(version, now())
	}
}

// wrote records a write. Its event may have arrived before the response.
func (w *Watch) wrote(write *Write, series *Watches) {
	version := write.Version
	all := w.writes.Load()
	if all == nil {
		all = &writes{seconds: series.observer(write)}
		if !w.writes.CompareAndSwap(nil, all) {
			all = w.writes.Load()
		}
	}
	all.remember(write)
	// The order matters: Received runs after the version is stored. So it finds the write, or the version is found here.
	if w.Version.Load() < version {
		return
	}
	if at, ok := w.ring.At(version); ok && at >= write.Sent { // an event from before the request is that of an earlier write
		all.echoed(version, at)
	}
}

func (all *writes) remember(write *Write) {
	s := &all.slots[write.Version%maxWrites]
	all.mu.Lock()
	defer all.mu.Unlock()
	s.answered, s.by = write.Answered, write.By
	s.version.Store(write.Version)
}

// writer returns the controller that has written a version, nil if there is none.
func (w *Watch) writer(version uint64) *Writer {
	all := w.writes.Load()
	if all == nil {
		return nil
	}
	s := &all.slots[version%maxWrites]
	all.mu.Lock()
	defer all.mu.Unlock()
	if s.version.Load() != version {
		return nil
	}
	return s.by
}

// echoed reports the echo of a write, once.
func (all *writes) echoed(version uint64, at int64) {
	s := &all.slots[version%maxWrites]
	all.mu.Lock()
	var answered int64
	if s.version.Load() == version { // another write may have taken the slot
		answered, s.answered = s.answered, 0
	}
	all.mu.Unlock()
	if answered != 0 {
		all.seconds.Observe(core.Seconds(max(0, at-answered)))
	}
}

// waiting returns the number of writes that the informer has not reached, and when the oldest was answered, 0 if there is none. Once it
// has received a higher version, an informer without an echo cannot see the object.
func (w *Watch) waiting() (n int, oldest int64) {
	all := w.writes.Load()
	if all == nil {
		return 0, 0
	}
	received := w.Version.Load()
	all.mu.Lock()
	defer all.mu.Unlock()
	for i := range all.slots {
		s := &all.slots[i]
		if s.answered == 0 || s.version.Load() <= received {
			continue
		}
		n++
		if oldest == 0 || s.answered < oldest {
			oldest = s.answered
		}
	}
	return n, oldest
}
