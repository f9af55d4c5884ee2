package echo

import (
	"sync"
	"sync/atomic"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// deliveries are the event handlers of a program. client-go calls each on a goroutine of its own, which identifies the event that
// caused an Add.
type deliveries struct {
	// candidates is the number of events that are being delivered and may be echoes.
	candidates atomic.Int64

	mu       sync.RWMutex
	handlers map[uint64]*Handler
}

// event is an event that may be an echo, the zero value for any other.
type event struct {
	watch   *Watch
	version uint64
}

// Handler is an event handler. Its methods are called on the goroutine on which client-go calls the handler, except for End.
type Handler struct {
	deliveries *deliveries
	goroutine  uint64
	current    event
}

// Handler returns a new Handler.
func (r *Watches) Handler() *Handler { return &Handler{deliveries: &r.deliveries} }

// Deliver records that an event with the given version is being delivered, if it may be an echo. The version is 0 for an object of a
// list. If it returns true, Delivered must be called when the handler
// has returned. An event that is no echo costs two comparisons.
func (h *Handler) Deliver(w *Watch, version uint64) bool {
	if h.goroutine == 0 {
		h.begin()
	}
	// The order matters: a write is recorded before it is no longer unanswered.
	if version == 0 || w.unanswered.Load() == 0 && !w.Own(version) {
		return false
	}
	h.current = event{w, version}
	h.deliveries.candidates.Add(1)
	return true
}

// Delivered undoes Deliver.
func (h *Handler) Delivered() {
	h.current = event{}
	h.deliveries.candidates.Add(-1)
}

func (h *Handler) begin() {
	h.goroutine = core.Goroutine()
	h.deliveries.mu.Lock()
	defer h.deliveries.mu.Unlock()
	h.deliveries.handlers[h.goroutine] = h
}

// End forgets the Handler.
func (h *Handler) End() {
	h.deliveries.mu.Lock()
	defer h.deliveries.mu.Unlock()
	if h.deliveries.handlers[h.goroutine] == h {
		delete(h.deliveries.handlers, h.goroutine)
	}
}

// current returns the event that is being delivered on this goroutine, and false if that is not a handler's.
func (d *deliveries) current() (event, bool) {
	id := core.Goroutine()
	d.mu.RLock()
	h := d.handlers[id]
	d.mu.RUnlock()
	if h == nil {
		return event{}, false
	}
	return h.current, true
}
