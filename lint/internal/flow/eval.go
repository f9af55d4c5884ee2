package flow

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
)

// eval computes what is known about the value of an instruction from its operands.
func (g *group) eval(v ssa.Value) state {
	switch v := v.(type) {
	case *ssa.Phi:
		var all state
		for _, edge := range v.Edges {
			all = join(all, g.state(edge))
		}
		return all
	case *ssa.ChangeInterface:
		return g.state(v.X)
	case *ssa.ChangeType:
		return g.state(v.X)
	case *ssa.MakeInterface:
		return g.state(v.X)
	case *ssa.TypeAssert:
		return g.state(v.X).part(v.AssertedType)
	case *ssa.Field:
		return g.state(v.X).part(v.Type())
	case *ssa.Index:
		return g.state(v.X).element(v.Type())
	case *ssa.FieldAddr, *ssa.IndexAddr:
		base, _ := place(v)
		if s := g.state(base); ir.Variable(base) == nil && s.kind != fresh {
			return s
		}
		return state{kind: none}
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return g.load(v)
		}
		return state{kind: none}
	case *ssa.Slice:
		return g.slice(v)
	case *ssa.Lookup:
		return g.state(v.X).element(v.Type())
	case *ssa.Next:
		if r, ok := v.Iter.(*ssa.Range); ok {
			return g.state(r.X)
		}
	case *ssa.Extract:
		return g.extract(v)
	case *ssa.Call:
		return g.result(v, 0)
	}
	return state{kind: none}
}

func (g *group) extract(v *ssa.Extract) state {
	switch t := v.Tuple.(type) {
	case *ssa.Call:
		return g.result(t, v.Index)
	case *ssa.TypeAssert, *ssa.Lookup:
		if v.Index == 0 {
			return g.state(t).part(v.Type())
		}
	case *ssa.Next:
		if v.Index == 2 {
			return g.state(t).element(v.Type())
		}
	}
	return state{kind: none}
}

func (g *group) slice(v *ssa.Slice) state {
	if v.Max != nil { // append copies it
		return state{kind: none}
	}
	if alloc := ir.Variable(v.X); alloc != nil {
		s := g.content(alloc, []step{element}, v, v.Type().Underlying().(*types.Slice).Elem())
		if s.kind == cached {
			s.kind = fresh
		}
		return s
	}
	return g.state(v.X)
}

// load returns what is known about the value at an address.
func (g *group) load(v *ssa.UnOp) state {
	base, path := place(v.X)
	if alloc := ir.Variable(base); alloc != nil {
		return g.content(alloc, path, v, v.Type())
	}
	s := g.state(base)
	if s.kind == fresh {
		if !slices.Equal(path, []step{element}) {
			return state{kind: none}
		}
		return s.element(v.Type())
	}
	return s.part(v.Type())
}
