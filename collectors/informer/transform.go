package informer

import (
	"fmt"
	"runtime"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
)

// transforms remembers where the Transform function of an informer was set.
type transforms struct {
	mu sync.Mutex
	// setAt is the file and line, empty if none is set.
	setAt string
}

// replace records that a function was set or removed, and returns where the function that it replaces was set.
func (t *transforms) replace(set bool, by string) (replaced string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	replaced, t.setAt = t.setAt, ""
	if set {
		t.setAt = by
	}
	return replaced
}

// caller returns the file and line of the call to SetTransform.
func caller() string {
	_, file, line, _ := runtime.Caller(2)
	return fmt.Sprintf("%s:%d", file, line)
}

// decorateTransform decorates a Transform. A dropped object never reaches a handler, and handlers do not
// recognize an object without its resourceVersion: neither may stay pending. If it drops or renames objects, the number of
// objects in the store cannot be derived from events.
func decorateTransform(m *metrics, c *stream.Connection, f cache.TransformFunc) cache.TransformFunc {
	return func(obj any) (any, error) {
		before := identify(obj) // f may change the object in place
		out, err := f(obj)
		switch {
		case err != nil:
			drop(m, c, before.version, dropError)
			return out, err
		case out == nil:
			drop(m, c, before.version, dropNil)
			return out, err
		}
		after := identify(out)
		if after.namespace != before.namespace || after.name != before.name {
			c.Miscount()
		}
		if n, ok := rv.Parse(before.version); ok && after.version != before.version {
			c.Ring.Drop(n)
		}
		return out, err
	}
}

// drop records that an object will not be stored.
func drop(m *metrics, c *stream.Connection, version, cause string) {
	c.Miscount()
	m.drops[cause].Inc()
	if n, ok := rv.Parse(version); ok && c.Ring.Drop(n) {
		m.lost[lostTransform].Inc()
	}
}

// identity is the part of an object that a Transform should not change.
type identity struct {
	namespace, name, version string
}

func identify(obj any) identity {
	object, err := meta.Accessor(obj)
	if err != nil {
		return identity{}
	}
	return identity{object.GetNamespace(), object.GetName(), object.GetResourceVersion()}
}
