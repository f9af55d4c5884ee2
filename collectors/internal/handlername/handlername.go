// Package handlername names event handlers that were not given a name.
package handlername

import (
	"path"
	"reflect"
	"runtime"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// Unnamed is the name of a handler for which no other name is found.
const Unnamed = "unnamed"

// Of returns the name of the function that contains the handler's functions, of the handler's type, or of the function that added
// it: the first of these that is not part of client-go's package cache or of the package with the path decorators. Names come
// from code alone, so their number is bounded.
func Of(h cache.ResourceEventHandler, decorators string) string {
	n := namer(decorators + ".")
	var name string
	switch h := h.(type) {
	case cache.ResourceEventHandlerFuncs:
		name = n.functions(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case *cache.ResourceEventHandlerFuncs:
		name = n.functions(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case cache.ResourceEventHandlerDetailedFuncs:
		name = n.functions(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	default:
		if t := reflect.Indirect(reflect.ValueOf(h)); t.IsValid() && t.Type().Name() != "" && !n.ignored(t.Type().PkgPath()+".") {
			name = path.Base(t.Type().PkgPath()) + "." + t.Type().Name()
		}
	}
	if name == "" {
		name = n.caller()
	}
	return name
}

// namer is the prefix of the functions of the package decorators.
type namer string

// own is the prefix of this package's functions.
var own = reflect.TypeFor[namer]().PkgPath() + "."

// ignored reports whether a function belongs to a package that passes handlers on.
func (n namer) ignored(function string) bool {
	return strings.HasPrefix(function, "k8s.io/client-go/tools/cache") || strings.HasPrefix(function, string(n)) ||
		strings.HasPrefix(function, own)
}

// functions returns the name of the function that contains the first of the given functions.
func (n namer) functions(functions ...any) string {
	for _, f := range functions {
		v := reflect.ValueOf(f)
		if v.IsNil() {
			continue
		}
		if fn := runtime.FuncForPC(v.Pointer()); fn != nil && !n.ignored(fn.Name()) {
			return qualifier(fn.Name())
		}
	}
	return ""
}

// caller returns the name of the function that added the handler.
func (n namer) caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !n.ignored(frame.Function) {
			return path.Base(frame.Function)
		}
		if !more {
			return Unnamed
		}
	}
}

// qualifier returns the name of a function without its last part, as client-go does for its logs: methods are named by their
// type, function literals by the function that contains them.
func qualifier(function string) string {
	short := path.Base(function)
	if at := strings.LastIndexByte(short, '.'); at > 0 {
		return short[:at]
	}
	return short
}
