package informer

import (
	"fmt"
	"runtime"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// SetTransform implements cache.SharedInformer. It reports a function that replaces another one, and detects objects that
// the function drops: they will never reach a handler.
func (s *sharedIndexInformer) SetTransform(f cache.TransformFunc) error {
	var decorated cache.TransformFunc
	if f != nil {
		decorated = s.informer.transform(f)
	}
	if err := s.inner.SetTransform(decorated); err != nil {
		return err
	}
	if first := s.transforms.replace(f != nil, caller()); first != "" {
		s.informer.metrics.conflicts.Inc()
		s.informer.registry.Logger.Warn("transform of a shared informer was replaced for all its users",
			"informer_type", s.informer.id.Type(), "watch_namespace", s.informer.id.WatchNamespace(),
			"first", first, "second", caller())
	}
	return nil
}

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

// caller returns the file and line that SetTransform was called at.
func caller() string {
	_, file, line, _ := runtime.Caller(2)
	return fmt.Sprintf("%s:%d", file, line)
}

// transform decorates a Transform. An object that it drops never reaches a handler, and one without its resourceVersion is
// not recognized there: neither may stay pending. If it drops or renames objects, the store holds another number than
// events say.
func (inf *informer) transform(f cache.TransformFunc) cache.TransformFunc {
	return func(obj any) (any, error) {
		before := identify(obj) // f may change the object in place
		out, err := f(obj)
		switch {
		case err != nil:
			inf.drop(before.version, dropError)
			return out, err
		case out == nil:
			inf.drop(before.version, dropNil)
			return out, err
		}
		after := identify(out)
		if after.namespace != before.namespace || after.name != before.name {
			inf.connection.Miscount()
		}
		if n, ok := rv.Parse(before.version); ok && after.version != before.version {
			inf.connection.Ring.Drop(n)
		}
		return out, err
	}
}

// drop records that an object will not be stored.
func (inf *informer) drop(version, cause string) {
	inf.connection.Miscount()
	inf.metrics.drops[cause].Inc()
	if n, ok := rv.Parse(version); ok && inf.connection.Ring.Drop(n) {
		inf.metrics.lost[lostTransform].Inc()
	}
}

// identity is what a Transform should not change.
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
