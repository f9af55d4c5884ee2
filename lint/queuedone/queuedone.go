// Package queuedone finds items of a work queue that are never done.
package queuedone

import (
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find items of a work queue that are not done on every path

A queue never hands out an item again before Done: later adds of its key wait forever.

Wrong:

	key, shutdown := queue.Get()
	if shutdown {
		return false
	}
	if err := sync(key); err != nil {
		return true
	}
	queue.Done(key)

Right:

	key, shutdown := queue.Get()
	if shutdown {
		return false
	}
	defer queue.Done(key)`

// Analyzer finds items of a work queue that are not done on every path.
var Analyzer = &analysis.Analyzer{
	Name:     "queuedone",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	for _, f := range ir.Of(pass).Funcs {
		for get := range ir.Instrs[*ssa.Call](f) {
			if !calls(get.Common(), "Get") || ir.InTest(pass, get.Pos()) || escapes(get) {
				continue
			}
			switch direct, elsewhere := done(ir.Of(pass), f); {
			case elsewhere:
			case len(direct) == 0 && !doneByOthers(ir.Of(pass), get):
				pass.Reportf(get.Pos(), "no Done follows Get: the queue never hands out this item again")
			case len(direct) > 0 && leaves(get, direct):
				pass.Reportf(get.Pos(), "not every path from Get to a return calls Done: defer it")
			}
		}
	}
	return nil, nil
}

func calls(call *ssa.CallCommon, name string) bool {
	m, ok := kube.Called(call)
	return ok && m.OfQueue(name)
}

// done returns the blocks of a function that call Done, and whether a deferred or another function does.
func done(pkg *ir.Package, f *ssa.Function) (direct map[*ssa.BasicBlock]bool, elsewhere bool) {
	direct = map[*ssa.BasicBlock]bool{}
	for _, literal := range ir.Literals(ir.Outermost(f)) {
		for _, reached := range pkg.Reached(literal, 3) {
			for call := range ir.Calls(reached) {
				if !calls(call.Common(), "Done") {
					continue
				}
				if _, ok := call.(*ssa.Call); !ok || reached != f {
					return nil, true
				}
				direct[call.Block()] = true
			}
		}
	}
	return direct, false
}

// doneByOthers reports whether another function of the package calls Done of such a queue, perhaps later.
func doneByOthers(pkg *ir.Package, get *ssa.Call) bool {
	queue, _ := kube.Called(&get.Call)
	for _, f := range pkg.Funcs {
		for call := range ir.Calls(f) {
			if m, ok := kube.Called(call.Common()); ok && m.OfQueue("Done") && types.Identical(m.Recv.Type(), queue.Recv.Type()) {
				return true
			}
		}
	}
	return false
}

// escapes reports whether the item or the queue leaves the function in a way that is not followed.
func escapes(get *ssa.Call) bool {
	for _, ref := range *get.Referrers() {
		item, ok := ref.(*ssa.Extract)
		if !ok {
			return true // returned as a whole
		}
		if item.Index != 0 {
			continue
		}
		for _, use := range *item.Referrers() {
			switch use.(type) {
			case *ssa.Return, *ssa.Send, *ssa.Store, *ssa.MapUpdate, *ssa.MakeClosure, *ssa.Go, *ssa.Phi:
				return true
			}
		}
	}
	return false
}

// leaves reports whether a path leads from Get to a return without Done, apart from the shutdown of the queue.
func leaves(get *ssa.Call, done map[*ssa.BasicBlock]bool) bool {
	seen := map[*ssa.BasicBlock]bool{}
	var visit func(block *ssa.BasicBlock) bool
	visit = func(block *ssa.BasicBlock) bool {
		if seen[block] || done[block] {
			return false
		}
		seen[block] = true
		next := block.Succs
		switch last := block.Instrs[len(block.Instrs)-1].(type) {
		case *ssa.Return:
			return true
		case *ssa.If:
			if value, ok := shutdown(get, last.Cond); ok && value {
				next = next[1:]
			} else if ok {
				next = next[:1]
			}
		}
		for _, succ := range next {
			if visit(succ) {
				return true
			}
		}
		return false
	}
	return visit(get.Block())
}

// shutdown returns the value of a condition after the shutdown of the queue, if it depends on that.
func shutdown(get *ssa.Call, cond ssa.Value) (value, ok bool) {
	switch cond := cond.(type) {
	case *ssa.Extract:
		return true, cond.Tuple == get
	case *ssa.UnOp:
		value, ok := shutdown(get, cond.X)
		return !value, ok
	}
	return false, false
}
