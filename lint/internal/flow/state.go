package flow

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

// kind is what is known about a value.
type kind uint8

const (
	unknown kind = iota // not computed yet, or nil: neutral in a join
	fresh               // a new slice with objects of a cache
	cached              // memory of a cache
	none
)

// state is what is known about a value. needs are the parameters of the function, and of its literals, that must be memory of
// a cache too.
type state struct {
	kind  kind
	needs uint64
}

// join returns what is known of a value that is either a or b.
func join(a, b state) state {
	switch {
	case a.kind == unknown:
		return b
	case b.kind == unknown:
		return a
	case a.kind != b.kind:
		return state{kind: none}
	}
	return state{a.kind, a.needs | b.needs}
}

// part returns what is known about a part of type t of a value, which a copy of that part shares with it.
func (s state) part(t types.Type) state {
	if s.kind == cached && !refers(t) {
		return state{kind: none}
	}
	return s
}

// element returns what is known about an element of a slice.
func (s state) element(t types.Type) state {
	if s.kind == fresh {
		s.kind = cached
	}
	return s.part(t)
}

// refers reports whether a copy of a value of type t shares memory with it.
func refers(t types.Type) bool {
	switch _, name := kube.PathName(t); name {
	case "Time", "MicroTime", "Quantity": // immutable, or copied when they are changed
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice, *types.Interface:
		return true
	case *types.Array:
		return refers(t.Elem())
	case *types.Struct:
		for field := range t.Fields() {
			if refers(field.Type()) {
				return true
			}
		}
	case *types.Tuple:
		return true
	}
	return false
}

// step is a field, or -1 for an element of an array or slice.
type step int

const element step = -1

// place returns the value from which an address is computed, and the steps from there.
func place(addr ssa.Value) (ssa.Value, []step) {
	switch addr := addr.(type) {
	case *ssa.FieldAddr:
		base, path := place(addr.X)
		return base, append(path, step(addr.Field))
	case *ssa.IndexAddr:
		base, path := place(addr.X)
		return base, append(path, element)
	}
	return addr, nil
}
