package informer

import (
	"log/slog"
	"reflect"
	"runtime/debug"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/handlername"
)

// NamedHandler sets the value of the label handler for a handler that is added to a decorated informer. Other informers accept
// the result like any handler. Without a name, or with an empty one, a handler is named after its function or type.
func NamedHandler(name string, h cache.ResourceEventHandler) cache.ResourceEventHandler {
	return namedHandler{ResourceEventHandler: h, name: name}
}

type namedHandler struct {
	cache.ResourceEventHandler
	name string
}

// Isolate recovers panics of a handler, so that the process and the other handlers continue. It is the only decorator that
// changes behavior: if the handler panics, the event is skipped, and the handler sees the object again only with a resync or
// the object's next change. Each panic is logged with its stack and counted by k8s_informer_handler_panics_total.
//
// Add its result to a decorated informer, directly or with NamedHandler. With any other informer, or inside another handler,
// it recovers and logs to slog.Default, but counts nothing.
func Isolate(h cache.ResourceEventHandler) cache.ResourceEventHandler {
	return isolatedHandler{h}
}

// isolatedHandler recovers panics itself only if a decorated informer does not unwrap it.
type isolatedHandler struct {
	inner cache.ResourceEventHandler
}

// OnAdd implements cache.ResourceEventHandler.
func (h isolatedHandler) OnAdd(obj any, isInInitialList bool) {
	defer logRecovered()
	h.inner.OnAdd(obj, isInInitialList)
}

// OnUpdate implements cache.ResourceEventHandler.
func (h isolatedHandler) OnUpdate(oldObj, newObj any) {
	defer logRecovered()
	h.inner.OnUpdate(oldObj, newObj)
}

// OnDelete implements cache.ResourceEventHandler.
func (h isolatedHandler) OnDelete(obj any) {
	defer logRecovered()
	h.inner.OnDelete(obj)
}

// logRecovered recovers a panic and logs it. It must be deferred directly.
func logRecovered() {
	if value := recover(); value != nil {
		slog.Default().Error("isolated handler panicked, skipping the event", "panic", value, "stack", string(debug.Stack()))
	}
}

// unwrapHandler removes the wrappers of NamedHandler and Isolate from a handler.
func unwrapHandler(h cache.ResourceEventHandler) (inner cache.ResourceEventHandler, name string, isolated bool) {
	for {
		switch wrapped := h.(type) {
		case namedHandler:
			if name == "" {
				name = wrapped.name
			}
			h = wrapped.ResourceEventHandler
			continue
		case isolatedHandler:
			isolated, h = true, wrapped.inner
			continue
		}
		if name == "" {
			name = handlername.Of(h, thisPackage)
		}
		return h, name, isolated
	}
}

var thisPackage = reflect.TypeFor[ID]().PkgPath()
