package queueforget

import (
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

// keepsBackoff reports whether a worker that retries after an error calls Forget nowhere after success.
func keepsBackoff(pkg *ir.Package, get, retry ssa.CallInstruction) bool {
	if get.Parent() != retry.Parent() {
		return false
	}
	for call := range ir.Calls(get.Parent()) {
		if _, deferred := call.(*ssa.Defer); (deferred || ir.Dominates(call, retry)) && forgets(pkg, call) {
			return false
		}
	}
	for cond, value := range ir.Guards(retry) {
		v, notNil := ir.NotNil(cond)
		if v == nil || !kube.IsError(v.Type()) || value != notNil {
			continue
		}
		block := cond.(*ssa.BinOp).Block()
		success := block.Succs[0]
		if value {
			success = block.Succs[1]
		}
		return !forgetsFrom(pkg, success, get.Block())
	}
	return false
}

// forgetsFrom reports whether a block, or one that follows before the next item, calls Forget.
func forgetsFrom(pkg *ir.Package, block, next *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{next: true}
	var visit func(block *ssa.BasicBlock) bool
	visit = func(block *ssa.BasicBlock) bool {
		if seen[block] {
			return false
		}
		seen[block] = true
		for _, instr := range block.Instrs {
			if call, ok := instr.(ssa.CallInstruction); ok && forgets(pkg, call) {
				return true
			}
		}
		for _, succ := range block.Succs {
			if visit(succ) {
				return true
			}
		}
		return false
	}
	return visit(block)
}

// forgets reports whether a call is Forget, or of a function of the package that calls it.
func forgets(pkg *ir.Package, call ssa.CallInstruction) bool {
	if isForget(call) {
		return true
	}
	for _, callee := range pkg.Functions(call.Common().Value) {
		for _, f := range pkg.Reached(callee, 3) {
			for call := range ir.Calls(f) {
				if isForget(call) {
					return true
				}
			}
		}
	}
	return false
}

func isForget(call ssa.CallInstruction) bool {
	m, ok := kube.Called(call.Common())
	return ok && m.Name == "Forget" && m.Recv != nil && kube.IsQueue(m.Recv.Type())
}
