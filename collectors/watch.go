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

// watchProxy stands between a watch and the reflector. It hands on every event unchanged and in order, one at a time:
// like client-go's own StreamWatcher it reads the next event only when the reflector has taken the last.
type watchProxy struct {
	informer *informer
	inner    watch.Interface
	result   chan watch.Event
	done     chan struct{}

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
	events  int
}

func newWatchProxy(ctx context.Context, inf *informer, inner watch.Interface, options metav1.ListOptions, requested int64) *watchProxy {
	w := &watchProxy{
		informer:  inf,
		inner:     inner,
		result:    make(chan watch.Event),
		done:      make(chan struct{}),
		requested: requested,
		planned:   int64(plannedWatch),
		initial:   options.SendInitialEvents != nil && *options.SendInitialEvents,
	}
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

// Stop implements watch.Interface. It may be called more than once.
func (w *watchProxy) Stop() {
	w.end(watchEnd{reason: catalog.WatchClientStop})
	w.mu.Lock()
	if !w.stopped {
		w.stopped = true
		close(w.done)
	}
	w.mu.Unlock()
	w.inner.Stop()
}

func (w *watchProxy) run(ctx context.Context) {
	defer close(w.result)
	for {
		select {
		case <-w.done:
			return
		case event, ok := <-w.inner.ResultChan():
			if !ok {
				w.closed(ctx)
				return
			}
			if !w.forward(event) {
				return
			}
		}
	}
}

// forward accounts for an event and hands it on. It returns false if the reflector has stopped the watch instead of
// taking the event.
func (w *watchProxy) forward(event watch.Event) bool {
	undo := w.receive(event)
	select {
	case w.result <- event:
		return true
	case <-w.done:
		// The server will send it again on the next watch.
		undo.apply(w.informer)
		return false
	}
}

// receive accounts for an event before the reflector sees it, so that a handler cannot be faster.
func (w *watchProxy) receive(event watch.Event) (undo receipt) {
	src := &w.informer.source
	at := w.informer.obs.now()
	src.lastEvent.Store(at)
	if w.initial && event.Type != watch.Error {
		w.receiveInitial(event)
		return undo
	}
	w.events++
	w.informer.group.countEvent(event.Type)
	switch event.Type {
	case watch.Added:
		undo.objects = 1
	case watch.Deleted:
		undo.objects = -1
	case watch.Modified:
	case watch.Bookmark:
		return undo
	case watch.Error:
		w.failed(apierrors.FromObject(event.Object))
		return undo
	default:
		return undo
	}
	src.objects.Add(undo.objects)
	if object, err := meta.Accessor(event.Object); err == nil {
		if version, ok := rv.Parse(object.GetResourceVersion()); ok {
			w.informer.remember(version, at)
			undo.pushed = true
		}
	}
	return undo
}

// remember keeps the time of receipt of an event. Where resourceVersions go back, which no stream of a kube-apiserver
// does, those before cannot be compared with those after.
func (inf *informer) remember(version uint64, at int64) {
	if last, ok := inf.ring.Last(); ok && version < last {
		inf.ring.Restart()
	}
	inf.ring.Push(version, at)
}

// receipt is what receive did for an event.
type receipt struct {
	objects int64
	pushed  bool
}

func (r receipt) apply(inf *informer) {
	inf.source.objects.Add(-r.objects)
	if r.pushed {
		inf.ring.Unpush()
	}
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
			if lasted >= w.planned {
				errorType = catalog.ErrorTimeout
			}
			w.informer.source.failList(errorType)
		}
		return
	}
	switch {
	case lasted >= w.planned:
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
