// Package sharedtransform finds transforms of informers that others use.
package sharedtransform

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find transforms of informers that others use, and second transforms

An informer has one transform, and a shared informer has it for all its users: they miss the fields that it removes. A second
SetTransform replaces the first one, or fails after the start.

Wrong:

	func NewController(factory informers.SharedInformerFactory) *Controller {
		informer := factory.Core().V1().Pods().Informer()
		informer.SetTransform(stripStatus)

Right:

	// where the factory is made
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(stripManagedFields))`

// Analyzer finds transforms of informers that others use.
var Analyzer = &analysis.Analyzer{
	Name:     "sharedtransform",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	for _, f := range ir.Of(pass).Funcs {
		var before []*ssa.Call
		for call := range ir.Instrs[*ssa.Call](f) {
			m, ok := kube.Called(&call.Call)
			if !ok || m.Name != "SetTransform" || m.Recv == nil || !kube.IsInformer(m.Recv.Type()) {
				continue
			}
			switch factory, names := kube.Chain(m.Recv); {
			case again(call, before):
				pass.Reportf(call.Pos(), "this informer already has a transform, which SetTransform replaces")
			case factory == nil || ir.InTest(pass, call.Pos()):
			case given(factory):
				pass.Reportf(call.Pos(), "SetTransform changes %s for all users of a factory that was not made here", names)
			}
			before = append(before, call)
		}
	}
	return nil, nil
}

// again reports whether one of the calls before sets the transform of the same informer.
func again(call *ssa.Call, before []*ssa.Call) bool {
	m, _ := kube.Called(&call.Call)
	factory, names := kube.Chain(m.Recv)
	for _, other := range before {
		o, _ := kube.Called(&other.Call)
		if !ir.Dominates(other, call) {
			continue
		}
		if f, n := kube.Chain(o.Recv); m.Recv == o.Recv || factory != nil && f != nil && ir.Same(factory, f) && names == n {
			return true
		}
	}
	return false
}

// given reports whether a factory is a parameter.
func given(factory ssa.Value) bool {
	_, ok := ir.Unwrap(factory).(*ssa.Parameter)
	return ok
}
