package stream

import (
	"context"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/internal/errclass"
	"github.com/informer-exporter/informer-exporter/internal/reason"
)

// shortWatch is the duration below which client-go calls a watch without events very short
// (k8s.io/client-go/tools/cache/reflector.go, VeryShortWatchError).
const shortWatch = reason.ShortWatch * time.Second

// plannedWatch is the shortest watch timeout of client-go. It is assumed for clients that set none.
const plannedWatch = reason.PlannedWatch * time.Second

// timeoutTolerance is how much earlier than its timeout a watch may end: the server measures it with its own clock.
const timeoutTolerance = reason.TimeoutTolerance * time.Second

// ReadAhead is the number of events that may wait for the reflector. Without it, the reflector waits for each event, client-go
// cannot store events in batches, and the decorator adds about 900 ns to an event instead of about 200 ns. Events that still
// wait when the watch is stopped are discarded: the next watch delivers them again.
const ReadAhead = 16

// emptyWatch is the type that client-go's REST client returns, without an error, for a connection that broke while the watch
// was being requested. No watch was open.
var emptyWatch = reflect.TypeOf(watch.NewEmptyWatch())

// watchProxy passes the events of a watch to the reflector, unchanged and in order.
type watchProxy struct {
	connection *Connection
	inner      watch.Interface
	result     chan watch.Event
	// done is closed by Stop, finished when the proxy's goroutine has ended.
	done, finished chan struct{}
	stop           sync.Once

	// requested is when the watch was requested; planned is the timeout after which the server should end it.
	requested, planned int64

	mu sync.Mutex
	// opened is when the watch was open and up to date, or 0 if it is not yet. It is set once, before the Connection gets the watch.
	opened int64
	ended  bool

	// The Connection's lock guards these: up is set once the watch has shown that it is up, down once it has ended.
	up, down bool

	// Only the proxy's goroutine uses these.
	// initial is set while the initial events of a streaming list are received; items is the number of objects so far, and
	// changes the number of events that added or changed one.
	initial        bool
	items, changes int
	// events is the number of events received after the initial ones.
	events int
	// ordered is set once versions are in order: a watch without a resourceVersion begins with added objects in no particular
	// order, most of them already known, until the first other event. unordered is the number of events before that.
	ordered   bool
	unordered int
	// before are the versions received before each of the last events: as many as can be undone.
	before [ReadAhead + 1]uint64
}

func newWatchProxy(ctx context.Context, c *Connection, inner watch.Interface, options metav1.ListOptions, requested int64) *watchProxy {
	w := &watchProxy{
		connection: c,
		inner:      inner,
		result:     make(chan watch.Event, ReadAhead),
		done:       make(chan struct{}),
		finished:   make(chan struct{}),
		requested:  requested,
		planned:    int64(plannedWatch),
		initial:    options.SendInitialEvents != nil && *options.SendInitialEvents,
	}
	w.ordered = w.initial || options.ResourceVersion != "" && options.ResourceVersion != "0"
	if options.TimeoutSeconds != nil {
		w.planned = int64(time.Duration(*options.TimeoutSeconds) * time.Second)
	}
	if !w.initial && reflect.TypeOf(inner) != emptyWatch {
		w.open()
	}
	go w.run(ctx)
	return w
}

// ResultChan implements watch.Interface.
func (w *watchProxy) ResultChan() <-chan watch.Event {
	return w.result
}

// Stop implements watch.Interface. It may be called more than once. It waits, for microseconds, until the proxy's
// goroutine has ended, so that this watch and the next never write to the ring at the same time.
func (w *watchProxy) Stop() {
	w.end(watchEnd{reason: watchClientStop})
	w.stop.Do(func() { close(w.done) })
	<-w.finished
	w.inner.Stop()
}

func (w *watchProxy) run(ctx context.Context) {
	defer close(w.finished)
	defer close(w.result)
	events := w.inner.ResultChan()
	for {
		event, ok, stopped := w.next(events)
		if stopped {
			w.undo()
			return
		}
		if !ok {
			w.closed(ctx)
			return
		}
		if event.Type == watch.Error && ctx.Err() != nil {
			// Reads from a connection that the client has canceled fail with many kinds of errors.
			w.remember()
			w.end(watchEnd{reason: watchClientStop})
		} else {
			w.observe(event)
		}
		if !w.pass(event) {
			w.undo(event)
			return
		}
	}
}

// next waits for an event. A non-blocking operation on one channel takes a fraction of the time of a select over two.
func (w *watchProxy) next(events <-chan watch.Event) (event watch.Event, ok, stopped bool) {
	select {
	case event, ok = <-events:
		return event, ok, false
	default:
	}
	select {
	case event, ok = <-events:
		return event, ok, false
	case <-w.done:
		return watch.Event{}, false, true
	}
}

// pass passes an event to the reflector. It reports false if the watch was stopped instead.
func (w *watchProxy) pass(event watch.Event) bool {
	select {
	case w.result <- event:
		return true
	default:
	}
	select {
	case w.result <- event:
		return true
	case <-w.done:
		return false
	}
}

// open records that the watch is open and up to date, unless the server is about to send an error.
func (w *watchProxy) open() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.opened = w.connection.clock.Now()
	w.connection.watchOpened(w)
}

// failed records an error that the server, or client-go's decoder, sent on the stream.
func (w *watchProxy) failed(err error) {
	if w.initial {
		if w.endInitial() {
			w.connection.listError(context.Background(), err, metav1.ListOptions{SendInitialEvents: &w.initial})
		}
		return
	}
	w.connection.metrics.errors.Inc(errclass.ErrorType(err))
	w.end(endOf(err))
}

// closed records the end of the stream.
func (w *watchProxy) closed(ctx context.Context) {
	if ctx.Err() != nil {
		w.end(watchEnd{reason: watchClientStop})
		return
	}
	lasted := w.connection.clock.Now() - w.requested
	if w.initial {
		if w.endInitial() {
			errorType := errclass.ErrorServer
			if lasted >= w.planned-int64(timeoutTolerance) {
				errorType = errclass.ErrorTimeout
			}
			w.connection.listFailed(errorType)
		}
		return
	}
	switch {
	case lasted >= w.planned-int64(timeoutTolerance):
		w.end(watchEnd{reason: watchTimeout})
	case lasted < int64(shortWatch) && w.events == 0:
		w.end(watchEnd{reason: watchVeryShort})
	default:
		w.end(watchEnd{reason: watchServerClose})
	}
}

// endInitial marks a streaming list as ended before it was complete, and reports whether this is its first end.
func (w *watchProxy) endInitial() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.ended
	w.ended = true
	return first
}

// end records the end of the watch, once.
func (w *watchProxy) end(end watchEnd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.ended = true
	switch {
	case w.opened != 0:
		w.connection.watchClosed(w, end)
	case end.reason != watchClientStop:
		w.connection.watchDown(end)
	}
}
