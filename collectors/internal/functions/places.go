package functions

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Places remembers where the Transform function of an informer was set.
type Places struct {
	mu sync.Mutex
	// setAt is the file and line, empty if none is set.
	setAt string
	// shared is set once it has been logged that handlers share the function.
	shared bool
}

// Replace records that a function was set or removed, and returns where the function that it replaces was set.
func (t *Places) Replace(set bool, by string) (replaced string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	replaced, t.setAt, t.shared = t.setAt, "", false
	if set {
		t.setAt = by
	}
	return replaced
}

// SharedBy returns where the function was set if several handlers share it, once for each function; otherwise an empty string.
func (t *Places) SharedBy(handlers int) (setAt string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shared || t.setAt == "" || handlers < 2 {
		return ""
	}
	t.shared = true
	return t.setAt
}

// Caller returns the file and line of the program's call that led to the call of Caller: a factory passes its Transform on when the
// program first requests an informer. It returns the call of the method itself if there are only calls of libraries.
func Caller() string {
	var calls [32]uintptr
	frames := runtime.CallersFrames(calls[:runtime.Callers(2, calls[:])])
	method, _ := frames.Next()
	first, more := frames.Next()
	caller := first
	for passesOn(caller, path.Dir(method.File)) {
		if !more || strings.HasPrefix(caller.Function, "runtime.") {
			caller = first
			break
		}
		caller, more = frames.Next()
	}
	return fmt.Sprintf("%s:%d", caller.File, caller.Line)
}

// passesOn reports whether a function passes on a Transform: one in the directory of this library's informers, which the name of an
// inlined closure does not show, or in a package with factories or caches.
func passesOn(f runtime.Frame, informers string) bool {
	return path.Dir(f.File) == informers && !strings.HasSuffix(f.File, "_test.go") ||
		strings.Contains(f.Function, "/informers/externalversions") || // generated
		slices.ContainsFunc(factories, func(prefix string) bool { return strings.HasPrefix(f.Function, prefix) })
}

var factories = []string{
	"k8s.io/client-go/informers",
	"k8s.io/client-go/dynamic/dynamicinformer",
	"k8s.io/client-go/metadata/metadatainformer",
	"sigs.k8s.io/controller-runtime/",
	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime.",
	"runtime.", // the end of the stack
}
