// Package statusupdate finds updates that lose a change of the status.
package statusupdate

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find Update after a change of the status

The API server ignores the status in an update of an object that has a status subresource.

Wrong:

	pod.Status.Phase = corev1.PodFailed
	client.CoreV1().Pods(pod.Namespace).Update(ctx, pod, metav1.UpdateOptions{})

Right:

	pod.Status.Phase = corev1.PodFailed
	client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})`

// Analyzer finds Update after a change of the status.
var Analyzer = &analysis.Analyzer{
	Name:     "statusupdate",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	for _, f := range ir.Of(pass).Funcs {
		if ir.InTest(pass, f.Pos()) { // fake clients update everything
			continue
		}
		for call := range ir.Calls(f) {
			if obj := updated(call.Common()); obj != nil && changesStatus(f, obj, call) && !writesStatus(ir.Outermost(f)) {
				pass.Reportf(call.Pos(), "Update ignores the change of the status: call UpdateStatus, or Status().Update")
			}
		}
	}
	return nil, nil
}

// updated returns the object with a status subresource that a call updates, or nil.
func updated(call *ssa.CallCommon) ssa.Value {
	m, ok := kube.Called(call)
	if !ok || m.Name != "Update" || m.Recv == nil || len(m.Args) < 2 {
		return nil
	}
	obj := ir.Unwrap(m.Args[1])
	switch path, _ := kube.PathName(obj.Type()); {
	case kube.HasMethod(m.Recv.Type(), "UpdateStatus"):
		return obj
	case m.Path == kube.Runtime+"client" && m.Type != "SubResourceWriter" && m.Type != "StatusWriter" && strings.HasPrefix(path, "k8s.io/api/"):
		return obj
	}
	return nil
}

// changesStatus reports whether a function assigns to the status of an object before a call.
func changesStatus(f *ssa.Function, obj ssa.Value, call ssa.Instruction) bool {
	for store := range ir.Instrs[*ssa.Store](f) {
		if ir.Dominates(store, call) && ofStatus(store.Addr, obj) {
			return true
		}
	}
	return false
}

// ofStatus reports whether an address is in the status of an object.
func ofStatus(addr, obj ssa.Value) bool {
	for {
		switch a := addr.(type) {
		case *ssa.IndexAddr:
			addr = a.X
		case *ssa.FieldAddr:
			field := a.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(a.Field)
			if field.Name() == "Status" && ir.Same(a.X, obj) {
				return true
			}
			addr = a.X
		default:
			return false
		}
	}
}

// writesStatus reports whether a function also updates a status.
func writesStatus(f *ssa.Function) bool {
	for _, literal := range ir.Literals(f) {
		for call := range ir.Calls(literal) {
			if m, ok := kube.Called(call.Common()); ok && strings.Contains(m.Name, "Status") && m.Name != "GetStatus" {
				return true
			}
		}
	}
	return false
}
