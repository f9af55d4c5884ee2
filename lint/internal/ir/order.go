package ir

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Dominates reports whether a runs before each run of b, an instruction of the same function.
func Dominates(a, b ssa.Instruction) bool {
	if a.Block() == b.Block() {
		return index(a) < index(b)
	}
	return a.Parent() == b.Parent() && a.Block().Dominates(b.Block())
}

// Reaches reports whether b may run after a, an instruction of the same function.
func Reaches(a, b ssa.Instruction) bool {
	if a.Parent() != b.Parent() {
		return false
	}
	if a.Block() == b.Block() && index(a) < index(b) {
		return true
	}
	seen := map[*ssa.BasicBlock]bool{}
	var reaches func(from *ssa.BasicBlock) bool
	reaches = func(from *ssa.BasicBlock) bool {
		for _, next := range from.Succs {
			if next == b.Block() {
				return true
			}
			if !seen[next] {
				seen[next] = true
				if reaches(next) {
					return true
				}
			}
		}
		return false
	}
	return reaches(a.Block())
}

func index(instr ssa.Instruction) int { return slices.Index(instr.Block().Instrs, instr) }
