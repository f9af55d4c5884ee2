package collectors

import (
	"slices"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// remember notes what undo needs to go back before the event that comes next.
func (w *watchProxy) remember() {
	w.before[w.events%len(w.before)] = w.informer.source.received.Load()
	w.events++
}

// undo reverses receive for what the reflector has not taken, except for what was really received: the server will
// send it again on the next watch. The event that could not be handed on, if there is one, is the last.
func (w *watchProxy) undo(last ...watch.Event) {
	var events []watch.Event
	for len(w.result) > 0 {
		events = append(events, <-w.result)
	}
	for _, event := range slices.Backward(append(events, last...)) {
		if w.events == 0 {
			return // what precedes it are initial events, which receive does not account for one by one
		}
		w.events--
		if w.events < w.unordered {
			continue
		}
		w.informer.source.objects.Add(-objects(event.Type))
		if version, ok := rv.Parse(resourceVersion(event.Object)); ok {
			// One that went back has been counted, and is no regression when it is sent again.
			w.informer.source.received.Store(min(version, w.before[w.events%len(w.before)]))
			if paired(event.Type) {
				w.informer.ring.Unpush()
			}
		}
	}
}
