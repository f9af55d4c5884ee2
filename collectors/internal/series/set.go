package series

import (
	"runtime"
	"slices"
	"sync"
	"weak"
)

// Set holds the owners of series without keeping them reachable, because an owner that is never started is never stopped either. The
// zero value is ready to use. All methods are safe for concurrent use.
type Set[T any] struct {
	mu      sync.Mutex
	members []member[T]
}

type member[T any] struct {
	owner weak.Pointer[T]
	end   func()
}

// Add adds an owner. end is called once, with the Set locked: by End, or after the owner has become unreachable. It must not refer
// to the owner, which would stay reachable.
func (s *Set[T]) Add(owner *T, end func()) {
	m := member[T]{weak.Make(owner), end}
	s.mu.Lock()
	s.members = append(s.members, m)
	s.mu.Unlock()
	runtime.AddCleanup(owner, s.end, m.owner)
}

// End removes an owner. An owner that has ended is ignored.
func (s *Set[T]) End(owner *T) { s.end(weak.Make(owner)) }

func (s *Set[T]) end(owner weak.Pointer[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.members, func(m member[T]) bool { return m.owner == owner })
	if at < 0 {
		return
	}
	end := s.members[at].end
	s.members = slices.Delete(s.members, at, at+1)
	end()
}

// Owners returns the owners that have not ended, in the order in which they were added.
func (s *Set[T]) Owners() []*T {
	s.mu.Lock()
	defer s.mu.Unlock()
	owners := make([]*T, 0, len(s.members))
	for _, m := range s.members {
		if owner := m.owner.Value(); owner != nil {
			owners = append(owners, owner)
		}
	}
	return owners
}
