package checks

import (
	"context"
	"sync"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/audit"
)

// storePatience is how long a check waits for the version of a store. Reading it waits for the writer of the store, and thereby for
// the index functions of the program that the writer calls.
const storePatience = time.Second

// storeVersion reads the version of a store that may hang, with one goroutine at a time.
type storeVersion struct {
	mu      sync.Mutex
	version string
	// reading is closed when the goroutine has read the version, nil without a goroutine.
	reading chan struct{}
	// hangs is set once the first reader has waited for storePatience, until the store responds.
	hangs bool
}

// read returns the version of the store, at most as old as the oldest unfinished read. It returns false if the store does not respond,
// at the cost of storePatience once.
func (v *storeVersion) read(ctx context.Context, store audit.Indexer) (version string, ok bool) {
	v.mu.Lock()
	reading, hangs := v.reading, v.hangs
	if reading == nil {
		reading = make(chan struct{})
		v.reading = reading
		go v.readNow(store, reading)
	}
	v.mu.Unlock()
	if hangs {
		return "", false
	}
	patience := time.NewTimer(storePatience)
	defer patience.Stop()
	select {
	case <-reading:
	case <-ctx.Done():
		return "", false
	case <-patience.C:
		v.mu.Lock()
		defer v.mu.Unlock()
		v.hangs = v.reading == reading
		return "", false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.version, true
}

func (v *storeVersion) readNow(store audit.Indexer, reading chan struct{}) {
	version := store.LastStoreSyncResourceVersion()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.version, v.reading, v.hangs = version, nil, false
	close(reading)
}
