package ir

import (
	"iter"

	"golang.org/x/tools/go/ssa"
)

// Instrs returns the instructions of a type in a function, without those of its literals.
func Instrs[T ssa.Instruction](f *ssa.Function) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, block := range f.Blocks {
			for _, instr := range block.Instrs {
				if instr, ok := instr.(T); ok && !yield(instr) {
					return
				}
			}
		}
	}
}

// Calls returns the calls of a function, without its literals.
func Calls(f *ssa.Function) iter.Seq[ssa.CallInstruction] { return Instrs[ssa.CallInstruction](f) }

// Reached returns f, and the functions of the package that f calls in its own goroutine, up to a depth.
func (p *Package) Reached(f *ssa.Function, depth int) []*ssa.Function {
	seen := map[*ssa.Function]bool{}
	var all []*ssa.Function
	var visit func(f *ssa.Function, depth int)
	visit = func(f *ssa.Function, depth int) {
		if seen[f] {
			return
		}
		seen[f] = true
		all = append(all, f)
		if depth == 0 {
			return
		}
		for call := range Calls(f) {
			if _, ok := call.(*ssa.Go); ok || call.Common().IsInvoke() {
				continue
			}
			for _, callee := range p.functions(call.Common().Value, 2) {
				visit(callee, depth-1)
			}
		}
	}
	visit(f, depth)
	return all
}

// Outermost returns the declared function that has the literal f.
func Outermost(f *ssa.Function) *ssa.Function {
	for f.Parent() != nil {
		f = f.Parent()
	}
	return f
}

// Literals returns f and its literals.
func Literals(f *ssa.Function) []*ssa.Function {
	all := []*ssa.Function{f}
	for _, literal := range f.AnonFuncs {
		all = append(all, Literals(literal)...)
	}
	return all
}
