package functions

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// Transform decorates a Transform. A dropped object never reaches a handler, and an object with a changed resourceVersion
// cannot be paired with its event: neither may stay pending. If f drops or renames objects, the number of objects in the store
// cannot be derived from events.
func (s *Functions) Transform(f cache.TransformFunc) cache.TransformFunc {
	return func(obj any) (any, error) {
		before := identify(obj) // f may change the object in place
		out, err := f(obj)
		switch {
		case err != nil:
			s.Connection.TransformFailed()
			s.drop(before.version, DropError)
			return out, err
		case out == nil:
			s.Connection.Transformed(before.number(), true)
			if obj != nil { // client-go transforms the objects of a streaming list twice
				s.drop(before.version, DropNil)
			}
			return out, err
		}
		s.Connection.Transformed(before.number(), false)
		after := identify(out)
		if after.namespace != before.namespace || after.name != before.name {
			s.Connection.Miscount()
			s.Renames.remember(before.uid, cache.NewObjectName(after.namespace, after.name).String())
		}
		if n, ok := rv.Parse(before.version); ok && after.version != before.version {
			s.Connection.Ring.Drop(n)
		}
		return out, err
	}
}

// drop records that an object will not be stored.
func (s *Functions) drop(version, cause string) {
	s.Connection.Miscount()
	s.Drops.Inc(cause)
	if n, ok := rv.Parse(version); ok && s.Connection.Ring.Drop(n) {
		s.Lost.Inc(LostTransform)
	}
}

// identity is the part of an object that a Transform should not change.
type identity struct {
	namespace, name, version string
	uid                      types.UID
}

// number returns the version as a number, 0 if it is not one.
func (i identity) number() uint64 {
	n, _ := rv.Parse(i.version)
	return n
}

func identify(obj any) identity {
	object, err := meta.Accessor(obj)
	if err != nil {
		return identity{}
	}
	return identity{object.GetNamespace(), object.GetName(), object.GetResourceVersion(), object.GetUID()}
}
