package collectors

import (
	"path"
	"reflect"
	"runtime"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// NamedHandler gives a handler the name under which it is reported, before it is added to a decorated informer. An
// informer that is not decorated takes it like any other handler. With an empty name it is reported as without.
func NamedHandler(name string, h cache.ResourceEventHandler) cache.ResourceEventHandler {
	return namedHandler{ResourceEventHandler: h, name: name}
}

type namedHandler struct {
	cache.ResourceEventHandler
	name string
}

// handlerName returns the name of a handler, and the handler without what NamedHandler put around it. Without a given
// name it is that of the function that the handler's functions are in, of its type, or of the function that added it,
// whichever is the first that is not part of client-go. Only code decides it, so that the number of names is bounded.
func handlerName(h cache.ResourceEventHandler) (string, cache.ResourceEventHandler) {
	switch h := h.(type) {
	case namedHandler:
		if h.name == "" { // which would be no label at all
			return handlerName(h.ResourceEventHandler)
		}
		return h.name, h.ResourceEventHandler
	case cache.ResourceEventHandlerFuncs:
		if name := functionsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc); name != "" {
			return name, h
		}
	case *cache.ResourceEventHandlerFuncs:
		if name := functionsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc); name != "" {
			return name, h
		}
	case cache.ResourceEventHandlerDetailedFuncs:
		if name := functionsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc); name != "" {
			return name, h
		}
	default:
		if t := reflect.Indirect(reflect.ValueOf(h)); t.IsValid() && t.Type().Name() != "" && !ignored(t.Type().PkgPath()) {
			return path.Base(t.Type().PkgPath()) + "." + t.Type().Name(), h
		}
	}
	return callerName(), h
}

// functionsName returns the name of the function in which the first of the functions is written.
func functionsName(functions ...any) string {
	for _, f := range functions {
		v := reflect.ValueOf(f)
		if v.IsNil() {
			continue
		}
		if fn := runtime.FuncForPC(v.Pointer()); fn != nil && !ignored(fn.Name()) {
			return qualifier(fn.Name())
		}
	}
	return ""
}

// callerName returns the name of the function that added the handler.
func callerName() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !ignored(frame.Function) {
			return shorten(frame.Function)
		}
		if !more {
			return unnamedHandler
		}
	}
}

const unnamedHandler = "unnamed"

// ignored tells whether a function or a package is one that passes handlers on.
func ignored(name string) bool {
	return strings.HasPrefix(name, "k8s.io/client-go/tools/cache") || strings.HasPrefix(name, decorators)
}

// decorators are the functions and types of this package.
var decorators = reflect.TypeFor[Observer]().PkgPath() + "."

// qualifier returns what precedes the last part of a function's name, as client-go does for its logs: methods are named
// by their type, function literals by the function that they are in.
func qualifier(function string) string {
	short := shorten(function)
	if at := strings.LastIndexByte(short, '.'); at > 0 {
		return short[:at]
	}
	return short
}

// shorten removes the path of the package.
func shorten(function string) string {
	return path.Base(function)
}
