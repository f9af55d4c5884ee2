// Package finalizerwrite finds finalizers that are removed from a copy only.
package finalizerwrite

import (
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find finalizers that are removed, or added, without an update

controllerutil.RemoveFinalizer changes the object in memory. Without an update or patch, the object is terminating forever.

Wrong:

	controllerutil.RemoveFinalizer(&pod, finalizer)
	return reconcile.Result{}, nil

Right:

	controllerutil.RemoveFinalizer(&pod, finalizer)
	return reconcile.Result{}, r.Update(ctx, &pod)`

// Analyzer finds finalizers that are removed, or added, without an update.
var Analyzer = &analysis.Analyzer{
	Name:     "finalizerwrite",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	for _, f := range ir.Of(pass).Funcs {
		if ir.InTest(pass, f.Pos()) {
			continue
		}
		for call := range ir.Calls(f) {
			m, ok := kube.Called(call.Common())
			if !ok || !m.In(kube.Runtime+"controller/controllerutil", "RemoveFinalizer", "AddFinalizer") {
				continue
			}
			if obj := ir.Unwrap(m.Args[0]); local(obj) && !used(obj, call) {
				pass.Reportf(call.Pos(), "%s changes the object in memory only: update or patch it", m.Name)
			}
		}
	}
	return nil, nil
}

// local reports whether an object is known to this function only: a variable, or a copy.
func local(obj ssa.Value) bool {
	switch obj := obj.(type) {
	case *ssa.Alloc:
		return true
	case *ssa.Call:
		m, ok := kube.Called(&obj.Call)
		return ok && m.Name == "DeepCopy"
	}
	return false
}

// used reports whether anything may write an object after a change of its finalizers.
func used(v ssa.Value, change ssa.CallInstruction) bool {
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.MakeInterface, *ssa.FieldAddr, *ssa.ChangeInterface:
			if used(ref.(ssa.Value), change) {
				return true
			}
		case *ssa.Call:
			if ref == change || reads(&ref.Call) {
				continue
			}
			if ir.Reaches(change, ref) || keeps(&ref.Call) {
				return true
			}
		case *ssa.UnOp, *ssa.DebugRef, *ssa.BinOp:
		case *ssa.Store:
			if ref.Val == v {
				return true
			}
		default:
			return true // returned, deferred, captured or sent
		}
	}
	return false
}

// reads reports whether a function only reads its object.
func reads(call *ssa.CallCommon) bool {
	m, ok := kube.Called(call)
	return ok && (strings.HasPrefix(m.Name, "Get") || m.In(kube.Runtime+"controller/controllerutil", "ContainsFinalizer", "RemoveFinalizer", "AddFinalizer"))
}

// keeps reports whether a call may keep its object and write it later: any but a method of a client.
func keeps(call *ssa.CallCommon) bool {
	m, ok := kube.Called(call)
	return !ok || !strings.HasPrefix(m.Path, kube.Runtime+"client") && !strings.HasPrefix(m.Name, "DeepCopy")
}
