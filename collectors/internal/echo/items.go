package echo

import (
	"sync"
	"sync/atomic"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// maxItems is the number of items of a queue with a remembered event.
const maxItems = 10_000

// Items finds out which items of a controller's queue were added because of the controller's own writes. The last event that adds an
// item decides: retries, and requeues by the controller, do not count. Its methods are called around those of the queue. They are safe
// for concurrent use, and take no lock unless the controller writes and the program has an event that may be an echo.
type Items[T comparable] struct {
	writer     *Writer
	deliveries *deliveries
	// selfCaused counts such items. It exists once the controller has written.
	selfCaused *core.LazyCounter
	exists     atomic.Bool

	// known is the size of items.
	known atomic.Int64
	mu    sync.Mutex
	items map[T]causes
}

// causes are the events of an item that may be echoes. The response to a write often arrives after its event, and the item may be added
// again while it is processed.
type causes struct {
	// next caused the next reconcile, current the one in progress.
	next, current event
}

// NewItems returns the Items of a controller's queue.
func NewItems[T comparable](o *core.Observer, controller string, selfCaused *core.LazyCounter) *Items[T] {
	r := Of(o)
	return &Items[T]{writer: r.Writer(controller), deliveries: &r.deliveries, selfCaused: selfCaused, items: map[T]causes{}}
}

// Added must be called before an item is added, with any delay, on the goroutine that adds it.
func (i *Items[T]) Added(item T) {
	if i.writes() && (i.deliveries.candidates.Load() > 0 || i.known.Load() > 0) {
		i.added(item)
	}
}

func (i *Items[T]) writes() bool { return i.writer != nil && i.writer.wrote.Load() }

func (i *Items[T]) added(item T) {
	if i.deliveries.candidates.Load() == 0 && !i.has(item) {
		return // nothing to replace
	}
	cause, delivered := i.deliveries.current()
	if !delivered {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	c, known := i.items[item]
	if !known && len(i.items) >= maxItems {
		return
	}
	c.next = cause
	i.set(item, c)
}

func (i *Items[T]) has(item T) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, known := i.items[item]
	return known
}

// set replaces the causes of an item. The lock must be held.
func (i *Items[T]) set(item T, c causes) {
	if c == (causes{}) {
		delete(i.items, item)
	} else {
		i.items[item] = c
	}
	i.known.Store(int64(len(i.items)))
}

// Got must be called when the queue has handed out an item.
func (i *Items[T]) Got(item T) {
	if i.known.Load() == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	c := i.items[item]
	i.set(item, causes{current: c.next})
}

// Done must be called when an item was processed. It counts the item if its last event is the echo of a write of the controller.
func (i *Items[T]) Done(item T) {
	if !i.exists.Load() && i.writes() {
		i.exists.Store(true)
		i.selfCaused.Add(0)
	}
	if i.known.Load() == 0 {
		return
	}
	if e := i.done(item); e.watch != nil && e.watch.writer(e.version) == i.writer {
		i.selfCaused.Add(1)
	}
}

func (i *Items[T]) done(item T) event {
	i.mu.Lock()
	defer i.mu.Unlock()
	c := i.items[item]
	i.set(item, causes{next: c.next})
	return c.current
}
