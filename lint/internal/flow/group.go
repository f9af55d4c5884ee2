package flow

import (
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
)

// group is a function with its literals, which are analyzed together.
type group struct {
	*solver
	funcs  []*ssa.Function
	states map[ssa.Value]state
	params map[*ssa.Parameter]uint64
}

func (a *solver) group(outermost *ssa.Function) *group {
	g := &group{solver: a, states: map[ssa.Value]state{}, params: map[*ssa.Parameter]uint64{}}
	bit := uint64(1)
	var add func(f *ssa.Function)
	add = func(f *ssa.Function) {
		g.funcs = append(g.funcs, f)
		for _, p := range f.Params {
			switch {
			case a.sources[p]:
				g.states[p] = state{kind: cached}
			case refers(p.Type()) && bit != 0:
				g.states[p] = state{cached, bit}
				g.params[p], a.bits[p] = bit, bit
				bit <<= 1
			default:
				g.states[p] = state{kind: none}
			}
		}
		for _, literal := range f.AnonFuncs {
			add(literal)
		}
	}
	add(outermost)
	return g
}

// passes limits how often solve visits an instruction. Most functions need three.
const passes = 20

// solve computes the states of all values.
func (g *group) solve() {
	for n, changed := 0, true; changed && n < passes; n++ {
		changed = false
		for _, f := range g.funcs {
			for instr := range ir.Instrs[ssa.Instruction](f) {
				v, ok := instr.(ssa.Value)
				if !ok {
					continue
				}
				old := g.states[v]
				if next := g.eval(v); next != old && (old.kind == unknown || next.kind == none || next.needs != old.needs) {
					g.states[v] = next
					changed = true
				}
			}
		}
	}
}

// state returns what is known about a value.
func (g *group) state(v ssa.Value) state {
	switch v := v.(type) {
	case *ssa.Const:
		if v.IsNil() {
			return state{}
		}
		return state{kind: none}
	case *ssa.Global, *ssa.Function, *ssa.Builtin:
		return state{kind: none}
	case *ssa.FreeVar:
		if ir.Variable(v) != nil {
			return state{kind: none} // an address of this function
		}
		if bound := ir.Binding(v); bound != nil {
			return g.state(bound)
		}
		return state{kind: none}
	}
	return g.states[v]
}
