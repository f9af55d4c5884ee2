package ir

import (
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Guards returns the conditions that lead to an instruction, with the value that each must have.
func Guards(instr ssa.Instruction) map[ssa.Value]bool {
	all := map[ssa.Value]bool{}
	for block := instr.Block(); block.Idom() != nil; block = block.Idom() {
		dominator := block.Idom()
		branch, ok := dominator.Instrs[len(dominator.Instrs)-1].(*ssa.If)
		if !ok || len(block.Preds) != 1 {
			continue
		}
		switch block {
		case dominator.Succs[0]:
			all[branch.Cond] = true
		case dominator.Succs[1]:
			all[branch.Cond] = false
		}
	}
	return all
}

// NotNil returns the value that a condition compares with nil, and the value of the condition if it is not nil.
func NotNil(cond ssa.Value) (compared ssa.Value, notNil bool) {
	op, ok := cond.(*ssa.BinOp)
	if !ok || op.Op != token.NEQ && op.Op != token.EQL {
		return nil, false
	}
	if c, ok := op.Y.(*ssa.Const); ok && c.IsNil() {
		return op.X, op.Op == token.NEQ
	}
	return nil, false
}

// Unwrap returns the value below conversions.
func Unwrap(v ssa.Value) ssa.Value {
	for {
		switch w := v.(type) {
		case *ssa.MakeInterface:
			v = w.X
		case *ssa.ChangeInterface:
			v = w.X
		case *ssa.ChangeType:
			v = w.X
		case *ssa.TypeAssert:
			v = w.X
		default:
			return v
		}
	}
}

// Same reports whether two values are equal for sure: the same value, or the same variable or field of it.
func Same(a, b ssa.Value) bool {
	a, b = Unwrap(a), Unwrap(b)
	if a == b {
		return true
	}
	switch a := a.(type) {
	case *ssa.UnOp:
		b, ok := b.(*ssa.UnOp)
		return ok && a.Op == b.Op && Same(a.X, b.X)
	case *ssa.FieldAddr:
		b, ok := b.(*ssa.FieldAddr)
		return ok && a.Field == b.Field && Same(a.X, b.X)
	case *ssa.Field:
		b, ok := b.(*ssa.Field)
		return ok && a.Field == b.Field && Same(a.X, b.X)
	case *ssa.FreeVar:
		return Variable(a) != nil && Variable(a) == Variable(b)
	case *ssa.Alloc:
		return a == Variable(b)
	}
	return false
}

// InTest reports whether a position is in a test file.
func InTest(pass *analysis.Pass, pos token.Pos) bool {
	return strings.HasSuffix(pass.Fset.Position(pos).Filename, "_test.go")
}
