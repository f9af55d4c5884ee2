package collectors

import (
	"context"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/errclass"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// shortWatch is what client-go calls a very short watch if there was no event either
// (k8s.io/client-go/tools/cache/reflector.go, VeryShortWatchError).
const shortWatch = time.Second

// plannedWatch is the shortest time after which client-go plans the end of a watch, for clients that plan none.
const plannedWatch = 5 * time.Minute

// timeoutTolerance is by how much a watch may end before its time: the server measures that on a clock of its own.
const timeoutTolerance = time.Second

// readAhead is how many events may wait for the reflector. Without it the extra hop between two goroutines makes the
// reflector wait for each event, which keeps client-go from storing events in batches and costs about 900 ns each;
// with it, about 100 ns.
const readAhead = 16

// watchProxy stands between a watch and the reflector. It hands on every event unchanged and in order.
type watchProxy struct {
	informer *informer
	inner    watch.Interface
	result   chan watch.Event
	// done is closed by Stop, finished when the proxy's goroutine has ended.
	done, finished chan struct{}

	// requested is when the watch was asked for, planned the time after which the server is to end it.
	requested, planned int64

	mu sync.Mutex
	// opened is when the watch was open and up to date, 0 if it has not come to that.
	opened int64
	ended  bool
	// stopped guards done.
	stopped bool

	// Only the proxy's goroutine uses these.
	// initial tells that the initial events of a streaming list are being received.
	initial bool
	items   int
	// events is how many have been received since then.
	events int
	// ordered tells that versions rise from here on: a watch from no particular version begins with objects in no order,
	// most of them known already. unordered is how many of the events came before.
	ordered   bool
	unordered int
	// before are the versions that had been received before each of the last events: as many as can be undone.
	before [readAhead + 1]uint64
}

func newWatchProxy(ctx context.Context, inf *informer, inner watch.Interface, options metav1.ListOptions, requested int64) *watchProxy {
	w := &watchProxy{
		informer:  inf,
		inner:     inner,
		result:    make(chan watch.Event, readAhead),
		done:      make(chan struct{}),
		finished:  make(chan struct{}),
		requested: requested,
		planned:   int64(plannedWatch),
		initial:   options.SendInitialEvents != nil && *options.SendInitialEvents,
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
	w.end(watchEnd{reason: catalog.WatchClientStop})
	w.mu.Lock()
	if !w.stopped {
		w.stopped = true
		close(w.done)
	}
	w.mu.Unlock()
	<-w.finished
	w.inner.Stop()
}

func (w *watchProxy) run(ctx context.Context) {
	defer close(w.finished)
	defer close(w.result)
	for {
		select {
		case <-w.done:
			w.undo()
			return
		case event, ok := <-w.inner.ResultChan():
			if !ok {
				w.closed(ctx)
				return
			}
			if event.Type == watch.Error && ctx.Err() != nil {
				// Reading from a connection that the client has cancelled fails in many ways.
				w.remember()
				w.end(watchEnd{reason: catalog.WatchClientStop})
			} else {
				w.receive(event)
			}
			select {
			case w.result <- event:
			case <-w.done:
				w.undo(event)
				return
			}
		}
	}
}

// receive accounts for an event before the reflector sees it, so that a handler cannot be faster.
func (w *watchProxy) receive(event watch.Event) {
	src := &w.informer.source
	at := w.informer.obs.now()
	src.lastEvent.Store(at)
	if w.initial && event.Type != watch.Error {
		w.receiveInitial(event)
		return
	}
	w.remember()
	w.informer.group.countEvent(event.Type)
	if event.Type == watch.Error {
		w.failed(apierrors.FromObject(event.Object))
		return
	}
	if w.ordered = w.ordered || event.Type != watch.Added; !w.ordered {
		w.unordered = w.events
		w.informer.recount.Store(true)
	} else {
		src.objects.Add(objects(event.Type))
		if version, ok := rv.Parse(resourceVersion(event.Object)); ok {
			src.advance(version)
			if paired(event.Type) {
				w.informer.ring.Push(version, at)
			}
		}
	}
	if event.Type == watch.Added || event.Type == watch.Modified {
		w.informer.observePropagation(event.Object)
	}
}

// objects returns by how much an event changes the number of objects.
func objects(t watch.EventType) int64 {
	switch t {
	case watch.Added:
		return 1
	case watch.Deleted:
		return -1
	}
	return 0
}

// paired tells whether handlers get events of a type.
func paired(t watch.EventType) bool {
	return t == watch.Added || t == watch.Modified || t == watch.Deleted
}

// receiveInitial takes in an event that precedes the end of a streaming list.
func (w *watchProxy) receiveInitial(event watch.Event) {
	switch event.Type {
	case watch.Added:
		w.items++
	case watch.Deleted:
		w.items--
	case watch.Bookmark:
		object, err := meta.Accessor(event.Object)
		if err != nil || object.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
			return
		}
		w.initial = false
		w.informer.source.completeList(w.items, object.GetResourceVersion(), true)
		w.open()
	}
}

// open takes in that the watch is open and up to date.
func (w *watchProxy) open() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.opened = w.informer.obs.now()
	w.informer.source.watchOpened()
}

// failed takes in an error that the server, or client-go's decoder, sent on the stream.
func (w *watchProxy) failed(err error) {
	src := &w.informer.source
	if w.initial {
		if w.endInitial() {
			src.listError(context.Background(), err, metav1.ListOptions{SendInitialEvents: &w.initial})
		}
		return
	}
	w.informer.group.errors[errclass.ErrorType(err)].Inc()
	w.end(watchEnd{reason: errclass.WatchEnd(err), decode: errclass.IsDecode(err)})
}

// closed takes in that the stream has ended.
func (w *watchProxy) closed(ctx context.Context) {
	if ctx.Err() != nil {
		w.end(watchEnd{reason: catalog.WatchClientStop})
		return
	}
	lasted := w.informer.obs.now() - w.requested
	if w.initial {
		if w.endInitial() {
			errorType := catalog.ErrorServer
			if lasted >= w.planned-int64(timeoutTolerance) {
				errorType = catalog.ErrorTimeout
			}
			w.informer.source.failList(errorType)
		}
		return
	}
	switch {
	case lasted >= w.planned-int64(timeoutTolerance):
		w.end(watchEnd{reason: catalog.WatchTimeout})
	case lasted < int64(shortWatch) && w.events == 0:
		w.end(watchEnd{reason: catalog.WatchVeryShort})
	default:
		w.end(watchEnd{reason: catalog.WatchServerClose})
	}
}

// endInitial marks a streaming list as ended before it was complete. It returns false if it had ended already.
func (w *watchProxy) endInitial() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.ended
	w.ended = true
	return first
}

// end takes in the end of the watch, once.
func (w *watchProxy) end(end watchEnd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.ended = true
	switch {
	case w.opened != 0:
		w.informer.source.watchEnded(w.opened, end)
	case end.reason != catalog.WatchClientStop:
		w.informer.source.noWatch(end)
	}
}
