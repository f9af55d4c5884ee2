package stream

import (
	"runtime/debug"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/internal/errclass"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// observe calls receive, and recovers and logs its panics: reading an object such as a typed nil panics. client-go's reflector
// recovers its own panic unless utilruntime.ReallyCrash is set; a panic on this goroutine would always crash the process.
func (w *watchProxy) observe(event watch.Event) {
	defer func() {
		if r := recover(); r != nil {
			w.connection.panicked.Do(func() {
				w.connection.clock.Logger.Error("cannot observe a watch event; further failures of this informer are not logged",
					"informer_type", w.connection.metrics.informerType, "panic", r, "stack", string(debug.Stack()))
			})
		}
	}()
	w.receive(event)
}

// receive records an event before the reflector sees it, so that no handler can finish it first.
func (w *watchProxy) receive(event watch.Event) {
	c := w.connection
	at := c.clock.Now()
	if event.Type == watch.Error {
		w.receiveError(apierrors.FromObject(event.Object), at)
		return
	}
	if w.initial {
		c.lastReceipt.Store(at)
		w.receiveInitial(event)
		return
	}
	if w.events == 0 {
		c.watchUp(w)
	}
	w.remember()
	c.metrics.countEvent(event.Type)
	remembered := false
	resourceVersion := versionOf(event) // empty if the object cannot be read, so that undo reverses exactly what follows
	if w.ordered = w.ordered || event.Type != watch.Added; !w.ordered {
		w.unordered = w.events
		c.Miscount()
	} else {
		if n := objects(event.Type); n != 0 {
			c.objects.Add(n)
		}
		if version, ok := rv.Parse(resourceVersion); ok {
			c.advance(version)
			if paired(event.Type) {
				c.Ring.Push(version, at)
				remembered = true
				c.Echo.Received(version, at)
			}
		}
	}
	if !remembered {
		c.lastReceipt.Store(at)
	}
	if event.Type == watch.Added || event.Type == watch.Modified {
		c.observePropagation(event.Object) // this and inspect are last, because they panic if the object cannot be read
	}
	if paired(event.Type) {
		c.inspect(event.Object, remembered)
	}
}

// receiveError records an error event. client-go itself makes the error event of a dead connection, which is therefore not
// counted, and no receipt if the connection was dead for some time.
func (w *watchProxy) receiveError(err error, at int64) {
	if !errclass.IsLate(err) {
		w.connection.lastReceipt.Store(at)
	}
	w.remember()
	if !errclass.IsDead(err) {
		w.connection.metrics.countEvent(watch.Error)
	}
	w.failed(err)
}

// advance records a resourceVersion that was received. If versions go backwards, as after an etcd restore, earlier events
// cannot be compared with later ones.
func (c *Connection) advance(version uint64) {
	if version < c.Echo.Version.Load() {
		c.metrics.regressions.Inc()
		c.Ring.Restart()
	}
	c.Echo.Version.Store(version)
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

// receiveInitial records an event that precedes the end of a streaming list.
func (w *watchProxy) receiveInitial(event watch.Event) {
	switch event.Type {
	case watch.Added:
		w.items++
		w.changes++
		w.connection.inspect(event.Object, false)
		w.connection.listEcho(event.Object)
	case watch.Modified:
		w.changes++
	case watch.Deleted:
		w.items--
	case watch.Bookmark:
		object, err := meta.Accessor(event.Object)
		if err != nil || object.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
			return
		}
		w.initial = false
		w.connection.listCompleted(w.items, w.changes, object.GetResourceVersion(), true)
		w.open()
		w.connection.watchUp(w)
	}
}

// remember stores the version before the next event, which undo restores.
func (w *watchProxy) remember() {
	w.before[w.events%len(w.before)] = w.connection.Echo.Version.Load()
	w.events++
}

// undo reverses receive for the events that the reflector has not received, because the server will send them again on the
// next watch. Event counts do not change: the events were received. last is the event that could not be passed on, if any.
func (w *watchProxy) undo(last ...watch.Event) {
	var events []watch.Event
	for len(w.result) > 0 {
		events = append(events, <-w.result)
	}
	w.connection.lastReceipt.Store(w.connection.ReceivedAt()) // the ring is about to forget it
	for _, event := range slices.Backward(append(events, last...)) {
		if w.events == 0 {
			return // the rest are initial events, which receive does not record individually
		}
		w.events--
		if w.events < w.unordered {
			continue
		}
		w.connection.objects.Add(-objects(event.Type))
		if version, ok := rv.Parse(versionOf(event)); ok {
			// A version that went backwards was counted once, and does not count again when it is resent.
			w.connection.Echo.Version.Store(min(version, w.before[w.events%len(w.before)]))
			if paired(event.Type) {
				w.connection.Ring.Unpush()
			}
		}
	}
}

// versionOf returns the resourceVersion of an event's object, or an empty string if it cannot be read.
func versionOf(event watch.Event) (version string) {
	defer func() { _ = recover() }()
	return rv.Of(event.Object)
}
