// Package transformresult finds transforms that lose objects, or change what they share.
package transformresult

import (
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/handlers"
	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
)

const doc = `find transforms that return nil without an error, or write to shared variables

The cache stores what a transform returns, and cannot store nil. Informers call a transform at the same time, so that it must not write
to variables outside of it.

Wrong:

	func transform(obj any) (any, error) {
		pod, ok := obj.(*corev1.Pod)
		if !ok {
			return nil, nil
		}

Right:

	func transform(obj any) (any, error) {
		pod, ok := obj.(*corev1.Pod)
		if !ok {
			return obj, nil
		}`

// Analyzer finds transforms that lose objects, or change what they share.
var Analyzer = &analysis.Analyzer{
	Name:     "transformresult",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer, handlers.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	for _, h := range handlers.Of(pass) {
		if h.Kind != handlers.Transform {
			continue
		}
		locks := false
		for call := range ir.Calls(h.Func) {
			callee := call.Common().StaticCallee()
			locks = locks || callee != nil && callee.Pkg != nil && callee.Pkg.Pkg.Path() == "sync"
		}
		for instr := range ir.Instrs[ssa.Instruction](h.Func) {
			switch instr := instr.(type) {
			case *ssa.Return:
				if len(instr.Results) == 2 && isNil(instr.Results[0]) && isNil(instr.Results[1]) && !checked(instr, h) {
					pass.Reportf(instr.Pos(), "this transform returns nil without an error: the informer cannot store that")
				}
			case *ssa.Store:
				if !locks && outside(instr.Addr) && !ir.InTest(pass, instr.Pos()) {
					pass.Reportf(instr.Pos(), "this transform writes to a variable outside of it, which informers do at the same time")
				}
			case *ssa.MapUpdate:
				if load, ok := instr.Map.(*ssa.UnOp); ok && !locks && outside(load.X) && !ir.InTest(pass, instr.Pos()) {
					pass.Reportf(instr.Pos(), "this transform writes to a map outside of it, which informers do at the same time")
				}
			}
		}
	}
	return nil, nil
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil() && types.IsInterface(c.Type())
}

// checked reports whether a return is for an object that is nil.
func checked(ret *ssa.Return, h handlers.Handler) bool {
	for cond, value := range ir.Guards(ret) {
		if v, notNil := ir.NotNil(cond); v != nil && value != notNil && ir.Unwrap(v) == h.Objects[0] {
			return true
		}
	}
	return false
}

func outside(addr ssa.Value) bool {
	switch addr := addr.(type) {
	case *ssa.Global, *ssa.FreeVar:
		return true
	case *ssa.FieldAddr:
		return outside(addr.X)
	}
	return false
}
