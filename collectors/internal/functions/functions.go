package functions

import (
	"sync/atomic"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
)

// Functions decorates the functions of one informer. All methods are safe for concurrent use.
type Functions struct {
	// Connection is the informer's connection to the API server.
	Connection *stream.Connection
	// Drops and Lost count the objects and events that the functions lose.
	Drops, Lost *core.CounterSet
	// Conflicts counts Transforms that replaced another one, and IndexErrors calls of index functions that failed.
	Conflicts, IndexErrors *core.LazyCounter
	// Renames has the objects that the Transform renamed.
	Renames Renames

	transforms atomic.Bool
}

// SetTransforms records whether the informer has a Transform: one that client-go has accepted, or with which the informer is about
// to be created.
func (s *Functions) SetTransforms(set bool) {
	s.transforms.Store(set)
	if !set {
		s.Connection.OnListLost(nil)
		return
	}
	for _, cause := range []string{DropError, DropNil} {
		s.Drops.Add(cause, 0) // a rule must see the first increase
	}
	s.Conflicts.Add(0) // and this one usually increases only once
	s.Connection.OnListLost(func(objects int) { s.Lost.Add(LostList, float64(objects)) })
}

// Transforms reports whether the informer has a Transform.
func (s *Functions) Transforms() bool { return s.transforms.Load() }
