package controllerruntime

import (
	"reflect"
	"strings"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// fields are the fields of a controller that are decorated. They are exported fields of an internal type of
// controller-runtime, and are therefore found by name and type when a controller is added.
type fields[R comparable] struct {
	name       *string
	workers    *int
	reconciler *reconcile.TypedReconciler[R]
	limiter    *workqueue.TypedRateLimiter[R]
	newQueue   *newQueue[R]
}

// newQueue creates a controller's queue when the controller starts.
type newQueue[R comparable] = func(controllerName string, rateLimiter workqueue.TypedRateLimiter[R]) workqueue.TypedRateLimitingInterface[R]

// fieldsOf returns the fields of a controller of requests of type R. It returns false for anything else, and if one of the
// fields is missing or of another type.
func fieldsOf[R comparable](r manager.Runnable) (f fields[R], ok bool) {
	if !isUpstream(r) {
		return f, false
	}
	v := reflect.ValueOf(r).Elem()
	return f, field(v, "Name", &f.name) &&
		field(v, "MaxConcurrentReconciles", &f.workers) &&
		field(v, "Do", &f.reconciler) &&
		field(v, "RateLimiter", &f.limiter) &&
		field(v, "NewQueue", &f.newQueue)
}

// field points to a field of a struct. It returns false if the struct has no exported field of this name and type.
func field[T any](s reflect.Value, name string, to **T) bool {
	f := s.FieldByName(name)
	if !f.IsValid() || !f.CanSet() {
		return false
	}
	pointer, ok := f.Addr().Interface().(*T)
	*to = pointer
	return ok
}

// internals is the path of controller-runtime's internal packages.
const internals = "sigs.k8s.io/controller-runtime/pkg/internal/"

// isUpstream reports whether a runnable is a controller of controller-runtime, regardless of how it was created.
func isUpstream(r manager.Runnable) bool {
	return isPointerTo(r, internals+"controller", "Controller[")
}

// embedded returns the controller that a struct embeds, such as struct{ controller.Controller }, and r itself if there is none.
// It needs reflection, because controller.Controller does not expose it.
func embedded(r manager.Runnable) manager.Runnable {
	outer := r
	for range 8 { // a struct may embed a struct that embeds a controller, or itself
		if isUpstream(r) {
			return r
		}
		inner, ok := embeddedIn(r)
		if !ok {
			break
		}
		r = inner
	}
	return outer
}

// embeddedIn returns the first runnable that a struct embeds.
func embeddedIn(r manager.Runnable) (manager.Runnable, bool) {
	s := reflect.Indirect(reflect.ValueOf(r))
	if s.Kind() != reflect.Struct {
		return nil, false
	}
	for field, value := range s.Fields() {
		if field.Anonymous && field.IsExported() {
			if inner, ok := value.Interface().(manager.Runnable); ok {
				return inner, true
			}
		}
	}
	return nil, false
}

// isSourceHandler reports whether a handler belongs to a source, which passes events to a handler.EventHandler.
func isSourceHandler(h cache.ResourceEventHandler) bool {
	return isPointerTo(h, internals+"source", "EventHandler[")
}

// isKnownQueue reports whether a queue is one that controller-runtime creates by default.
func isKnownQueue(q any) bool {
	return isPointerTo(q, "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue", "priorityqueue[") ||
		isPointerTo(q, "k8s.io/client-go/util/workqueue", "rateLimitingType[")
}

// isPointerTo reports whether v points to a struct of a type in the given package, with a name that starts with prefix.
func isPointerTo(v any, pkg, prefix string) bool {
	t := reflect.TypeOf(v)
	return t != nil && t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && t.Elem().PkgPath() == pkg &&
		strings.HasPrefix(t.Elem().Name(), prefix)
}

// isController reports whether a runnable has the methods of a controller.
func isController(r manager.Runnable) bool {
	_, ok := r.(controller.Controller)
	return ok
}

// typeName returns the type of a runnable.
func typeName(r manager.Runnable) string { return reflect.TypeOf(r).String() }
