// Package handlerleak finds handlers that are added again and again.
package handlerleak

import (
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find handlers that are added again and again

An informer keeps each handler, with a goroutine and a buffer of events, until RemoveEventHandler. A reconciler or loop that adds a
handler leaks it, and handles each event once more.

Wrong:

	func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		r.informer.AddEventHandler(handler)

Right:

	registration, err := r.informer.AddEventHandler(handler)
	if err != nil {
		return reconcile.Result{}, err
	}
	defer r.informer.RemoveEventHandler(registration)`

// Analyzer finds handlers that are added again and again.
var Analyzer = &analysis.Analyzer{
	Name:     "handlerleak",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	pkg := ir.Of(pass)
	var adds []ssa.CallInstruction
	again := map[*ssa.Function]bool{}
	for _, f := range pkg.Funcs {
		again[f] = again[f] || isReconcile(f)
		for call := range ir.Calls(f) {
			m, ok := kube.Called(call.Common())
			switch {
			case !ok:
			case m.Name == "RemoveEventHandler":
				return nil, nil
			case m.Recv != nil && strings.HasPrefix(m.Name, "AddEventHandler") && kube.IsInformer(m.Recv.Type()):
				adds = append(adds, call)
			case m.Path == "k8s.io/apimachinery/pkg/util/wait" && strings.Contains(m.Name, "Until"):
				for _, arg := range m.Args {
					for _, f := range pkg.Functions(arg) {
						again[f] = true
					}
				}
			}
		}
	}
	for _, add := range adds {
		switch {
		case ir.InTest(pass, add.Pos()):
		case again[add.Parent()] && !guarded(add):
			pass.Reportf(add.Pos(), "each run of %s adds another handler: keep the registration, and call RemoveEventHandler", add.Parent().Name())
		case repeats(add):
			pass.Reportf(add.Pos(), "each round of the loop adds the same handler again")
		}
	}
	return nil, nil
}

// isReconcile reports whether a function is the method of a reconciler.
func isReconcile(f *ssa.Function) bool {
	results := f.Signature.Results()
	return f.Name() == "Reconcile" && results.Len() == 2 && kube.Is(results.At(0).Type(), kube.Runtime+"reconcile", "Result")
}

// guarded reports whether an instruction runs under a condition other than the success of calls before, or a range over state that
// outlives the run.
func guarded(instr ssa.Instruction) bool {
	for cond := range ir.Guards(instr) {
		if v, _ := ir.NotNil(cond); (v == nil || !kube.IsError(v.Type())) && !rangesState(cond) {
			return true
		}
	}
	return false
}

// rangesState reports whether a condition is that of a range over a field or a global variable.
func rangesState(cond ssa.Value) bool {
	var ranged ssa.Value
	switch cond := cond.(type) {
	case *ssa.Extract: // of a map
		if next, ok := cond.Tuple.(*ssa.Next); ok {
			if r, ok := next.Iter.(*ssa.Range); ok {
				ranged = r.X
			}
		}
	case *ssa.BinOp: // of a slice: its index is less than its length
		if length, ok := cond.Y.(*ssa.Call); ok && strings.HasPrefix(cond.Block().Comment, "rangeindex") {
			ranged = length.Call.Args[0]
		}
	}
	load, ok := ranged.(*ssa.UnOp)
	if !ok {
		return false
	}
	switch load.X.(type) {
	case *ssa.FieldAddr, *ssa.Global:
		return true
	}
	return false
}

// repeats reports whether a call is in a loop, and none of its arguments comes from the loop.
func repeats(call ssa.CallInstruction) bool {
	if !ir.Reaches(call, call) {
		return false
	}
	m, _ := kube.Called(call.Common())
	for _, arg := range append([]ssa.Value{m.Recv}, m.Args...) {
		if varies(arg, call) {
			return false
		}
	}
	return true
}

// varies reports whether a value may differ in each round of the loop that has a call.
func varies(v ssa.Value, call ssa.CallInstruction) bool {
	instr, ok := v.(ssa.Instruction)
	if !ok || !ir.Reaches(call, instr) {
		return false // computed before the loop
	}
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return varies(v.X, call)
	case *ssa.MakeClosure:
		for _, binding := range v.Bindings {
			if varies(binding, call) {
				return true
			}
		}
		return false
	case *ssa.UnOp:
		return varies(v.X, call)
	case *ssa.FieldAddr:
		return varies(v.X, call)
	case *ssa.Alloc:
		for _, ref := range *v.Referrers() {
			field, ok := ref.(*ssa.FieldAddr)
			if !ok {
				if _, load := ref.(*ssa.UnOp); load {
					continue
				}
				return true
			}
			for _, store := range *field.Referrers() {
				if store, ok := store.(*ssa.Store); ok && varies(store.Val, call) {
					return true
				}
			}
		}
		return false
	}
	return true
}
