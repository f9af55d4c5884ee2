package informer

import (
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/ring"
)

// End ends a decorated informer that was not run.
func End(inf cache.SharedIndexInformer) { inf.(*sharedIndexInformer).informer.end() }

// NewCursor returns a cursor for the events that the ListerWatcher receives from now on.
func (l *ListerWatcher) NewCursor() *ring.Cursor {
	c := l.informer.connection.Ring.NewCursor()
	c.Registered()
	return c
}

// Decorate returns the handler as the informer of the ListerWatcher would register it.
func (l *ListerWatcher) Decorate(name string, h cache.ResourceEventHandler) cache.ResourceEventHandler {
	decorated := l.informer.decorateHandler(NamedHandler(name, h))
	l.informer.addHandler(decorated)
	decorated.cursor.Registered()
	return decorated
}

// Receive records an event with the given version, received now.
func (l *ListerWatcher) Receive(version uint64) {
	l.informer.connection.Ring.Push(version, l.informer.shared.Now())
}
