// Package queueforget finds work queues with a backoff that never ends, or never grows.
package queueforget

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find retries without Forget, and Forget before the work

Each AddRateLimited doubles the delay of an item until Forget. Without Forget after success, the next error waits up to 16 minutes, and
the limiter keeps every key in memory. With Forget before the work, an item that fails is retried without backoff.

Wrong:

	queue.Forget(key)
	if err := sync(key); err != nil {
		queue.AddRateLimited(key)
	}

Right:

	if err := sync(key); err != nil {
		queue.AddRateLimited(key)
		return true
	}
	queue.Forget(key)`

// Analyzer finds retries without Forget, and Forget before the work.
var Analyzer = &analysis.Analyzer{
	Name:     "queueforget",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	pkg := ir.Of(pass)
	all := map[string][]ssa.CallInstruction{}
	for _, f := range pkg.Funcs {
		for call := range ir.Calls(f) {
			if m, ok := kube.Called(call.Common()); ok && m.Recv != nil && kube.IsQueue(m.Recv.Type()) && !ir.InTest(pass, call.Pos()) {
				all[m.Name] = append(all[m.Name], call)
			}
		}
	}
	for _, forget := range all["Forget"] {
		for _, retry := range all["AddRateLimited"] {
			if ir.Dominates(forget, retry) && ir.Same(item(forget), item(retry)) {
				pass.Reportf(forget.Pos(), "Forget runs before AddRateLimited, which then retries without backoff: forget only after success")
				break
			}
		}
	}
	for _, get := range all["Get"] {
		for _, retry := range all["AddRateLimited"] {
			if keepsBackoff(pkg, get, retry) {
				pass.Reportf(retry.Pos(), "this retries after an error, and success does not call Forget: the backoff of the item goes on")
			}
		}
	}
	if len(all["Forget"]) > 0 {
		return nil, nil
	}
	for _, get := range all["Get"] {
		for _, f := range pkg.Reached(get.Parent(), 3) {
			if f == get.Parent() {
				continue // checked above
			}
			for call := range ir.Calls(f) {
				if m, ok := kube.Called(call.Common()); ok && m.OfQueue("AddRateLimited") {
					pass.Reportf(call.Pos(), "the package never calls Forget: the backoff of the item does not end after success")
					return nil, nil
				}
			}
		}
	}
	return nil, nil
}

func item(call ssa.CallInstruction) ssa.Value {
	m, _ := kube.Called(call.Common())
	return m.Args[0]
}

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
	return ok && m.OfQueue("Forget")
}
