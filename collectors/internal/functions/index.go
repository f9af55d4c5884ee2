package functions

import (
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// Indexers decorates index functions. client-go panics if one fails for an object that it stores. Unless that crashes the process,
// no handler gets the event. Indexers returns nil for nil.
func (s *Functions) Indexers(indexers cache.Indexers) cache.Indexers {
	if indexers == nil {
		return nil
	}
	decorated := make(cache.Indexers, len(indexers))
	for name, f := range indexers {
		decorated[name] = s.index(f)
	}
	return decorated
}

func (s *Functions) index(f cache.IndexFunc) cache.IndexFunc {
	return func(obj any) (values []string, err error) {
		returned := false
		defer func() {
			if !returned || err != nil {
				s.indexFailed(obj)
			}
		}()
		values, err = f(obj)
		returned = true
		return values, err
	}
}

// indexFailed counts a failed call. Audits and readers also call index functions: an event is lost only if its object is among those
// that were received last, and it counts once.
func (s *Functions) indexFailed(obj any) {
	s.IndexErrors.Add(1)
	defer func() { _ = recover() }() // readers may pass objects that cannot be read, such as a typed nil
	if n, ok := rv.Parse(rv.Of(obj)); ok && s.Connection.Ring.Drop(n) {
		s.Lost.Inc(LostIndex)
	}
}
