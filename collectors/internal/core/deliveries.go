package core

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// Deliveries are the recorded deliveries in progress. They identify the event that caused an Add: the one that is being
// delivered on the goroutine that calls Add. client-go passes no context to handlers, so the goroutine is identified by its
// number. The zero value is empty.
type Deliveries struct {
	// active avoids the lock and the lookup of the goroutine while no delivery is recorded.
	active atomic.Int64
	// running is the number of deliveries in progress, recorded or not.
	running atomic.Int64

	mu    sync.Mutex
	spans map[uint64]spans.SpanContext
}

// Enter counts an event that is being delivered, recorded or not. Leave must be called when the handler has returned.
func (d *Deliveries) Enter() { d.running.Add(1) }

// Leave undoes Enter.
func (d *Deliveries) Leave() { d.running.Add(-1) }

// Running reports whether an event is being delivered on any goroutine.
func (d *Deliveries) Running() bool { return d.running.Load() > 0 }

// Begin records that an event is being delivered on the goroutine with the given ID, as returned by Goroutine. end must be called
// when the handler has returned.
func (d *Deliveries) Begin(id uint64, s spans.SpanContext) (end func()) {
	if id == 0 {
		return func() {}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.spans == nil {
		d.spans = map[uint64]spans.SpanContext{}
	}
	outer, nested := d.spans[id]
	d.spans[id] = s
	d.active.Add(1)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if nested {
			d.spans[id] = outer
		} else {
			delete(d.spans, id)
		}
		d.active.Add(-1)
	}
}

// Current returns the span of the delivery on the current goroutine, and reports whether there is one.
func (d *Deliveries) Current() (spans.SpanContext, bool) {
	if d.active.Load() == 0 {
		return spans.SpanContext{}, false
	}
	id := Goroutine()
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.spans[id]
	return s, ok
}

// Goroutine returns the number of the current goroutine, which is unique in the process, or 0. The runtime exposes it only in the
// first line of a stack trace, "goroutine 18 [running]:". This takes a few microseconds: do not use it for each event.
func Goroutine() uint64 {
	buffer := lines.Get().(*[64]byte)
	defer lines.Put(buffer)
	line := buffer[:runtime.Stack(buffer[:], false)]
	line, ok := bytes.CutPrefix(line, []byte("goroutine "))
	end := bytes.IndexByte(line, ' ')
	if !ok || end < 0 {
		return 0
	}
	id, err := strconv.ParseUint(string(line[:end]), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// lines are buffers for the first line of a stack trace.
var lines = sync.Pool{New: func() any { return new([64]byte) }}
