package flow

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

// content returns what is known about a part of a local variable when an instruction reads it. All stores to that part count,
// in any order, so that a variable that is also assigned a copy is not followed.
func (g *group) content(alloc *ssa.Alloc, path []step, at ssa.Instruction, t types.Type) state {
	var all state
	for _, part := range g.parts(alloc) {
		switch store, ok := part.instr.(*ssa.Store); {
		case ok && len(part.path) <= len(path) && slices.Equal(part.path, path[:len(part.path)]):
			s := g.state(store.Val)
			if len(part.path) < len(path) && s.kind == fresh {
				s.kind = none
			}
			all = join(all, s.part(t))
		case ok && len(path) < len(part.path) && slices.Equal(path, part.path[:len(path)]):
			all = join(all, state{kind: none})
		case !ok && overlap(path, part.path) && changes(part.instr) && (part.instr.Parent() != at.Parent() || ir.Reaches(part.instr, at)):
			return state{kind: none}
		}
	}
	return all
}

func overlap(a, b []step) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// changes reports whether an instruction that has the address of a variable may change it.
func changes(instr ssa.Instruction) bool {
	call, ok := instr.(ssa.CallInstruction)
	if !ok {
		return true
	}
	m, ok := kube.Called(call.Common())
	return !ok || !strings.HasPrefix(m.Name, "Get") && m.Name != "String" && m.Name != "DeepCopy" && m.Name != "DeepCopyObject"
}

// part is an instruction that stores to a part of a variable, or has its address.
type part struct {
	instr ssa.Instruction
	path  []step
}

// parts returns the instructions that may change a variable.
func (a *solver) parts(alloc *ssa.Alloc) []part {
	if all, ok := a.variables[alloc]; ok {
		return all
	}
	var all []part
	var visit func(addr ssa.Value, path []step)
	visit = func(addr ssa.Value, path []step) {
		for _, instr := range ir.References(addr) {
			switch instr := instr.(type) {
			case *ssa.FieldAddr:
				visit(instr, append(slices.Clip(path), step(instr.Field)))
			case *ssa.IndexAddr:
				visit(instr, append(slices.Clip(path), element))
			case *ssa.UnOp, *ssa.DebugRef, *ssa.Slice:
			case *ssa.Store:
				if instr.Val == addr {
					all = append(all, part{addressTaken{instr}, path})
				} else {
					all = append(all, part{instr, path})
				}
			default:
				all = append(all, part{instr, path})
			}
		}
	}
	visit(alloc, nil)
	a.variables[alloc] = all
	return all
}

// addressTaken is a store of the address of a variable, after which any instruction may change it.
type addressTaken struct{ ssa.Instruction }
