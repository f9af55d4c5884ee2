package stream

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// receive records an event before the reflector sees it, so that no handler can finish it first.
func (w *watchProxy) receive(event watch.Event) {
	c := w.connection
	at := c.clock.Now()
	c.lastReceipt.Store(at)
	if w.initial && event.Type != watch.Error {
		w.receiveInitial(event)
		return
	}
	w.remember()
	c.metrics.countEvent(event.Type)
	if event.Type == watch.Error {
		w.failed(apierrors.FromObject(event.Object))
		return
	}
	if event.Type == watch.Added || event.Type == watch.Modified {
		c.observePropagation(event.Object)
	}
	if w.ordered = w.ordered || event.Type != watch.Added; !w.ordered {
		w.unordered = w.events
		c.Miscount()
	} else {
		c.objects.Add(objects(event.Type))
		if version, ok := rv.Parse(rv.Of(event.Object)); ok {
			c.advance(version)
			if paired(event.Type) {
				c.Ring.Push(version, at)
			}
		}
	}
}

// advance records a resourceVersion that was received. If versions go backwards, as they never do with
// one API server, earlier events cannot be compared with later ones.
func (c *Connection) advance(version uint64) {
	if version < c.version.Load() {
		c.metrics.regressions.Inc()
		c.Ring.Restart()
	}
	c.version.Store(version)
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

// paired reports whether handlers get events of a type.
func paired(t watch.EventType) bool {
	return t == watch.Added || t == watch.Modified || t == watch.Deleted
}

// receiveInitial accounts for an event that precedes the end of a streaming list.
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
		w.connection.listCompleted(w.items, object.GetResourceVersion(), true)
		w.open()
	}
}

// remember stores what undo needs to go back before the next event.
func (w *watchProxy) remember() {
	w.before[w.events%len(w.before)] = w.connection.version.Load()
	w.events++
}

// undo reverses receive for the events that the reflector has not taken, because the server will send them again on the
// next watch. Event counts stay: the events were received. last is the event that could not be passed on, if any.
func (w *watchProxy) undo(last ...watch.Event) {
	var events []watch.Event
	for len(w.result) > 0 {
		events = append(events, <-w.result)
	}
	for _, event := range slices.Backward(append(events, last...)) {
		if w.events == 0 {
			return // the rest are initial events, which receive does not account for one by one
		}
		w.events--
		if w.events < w.unordered {
			continue
		}
		w.connection.objects.Add(-objects(event.Type))
		if version, ok := rv.Parse(rv.Of(event.Object)); ok {
			// A version that went backwards was counted once, and does not count again when it is resent.
			w.connection.version.Store(min(version, w.before[w.events%len(w.before)]))
			if paired(event.Type) {
				w.connection.Ring.Unpush()
			}
		}
	}
}
