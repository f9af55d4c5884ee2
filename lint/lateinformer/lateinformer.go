// Package lateinformer finds informers that are never started.
package lateinformer

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find informers that are requested from a factory after its Start

A factory starts the informers that were requested before its Start. An informer, or a lister, that is requested later stays empty until the next
Start.

Wrong:

	factory.Start(ctx.Done())
	pods := factory.Core().V1().Pods().Lister()

Right:

	pods := factory.Core().V1().Pods().Lister()
	factory.Start(ctx.Done())`

// Analyzer finds informers that are never started.
var Analyzer = &analysis.Analyzer{
	Name:     "lateinformer",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer},
	Run:      run,
}

// request is a call that requests an informer.
type request struct {
	call    *ssa.Call
	factory ssa.Value
	names   string
}

func run(pass *analysis.Pass) (any, error) {
	for _, f := range ir.Of(pass).Funcs {
		var starts []*ssa.Call
		var requests []request
		for call := range ir.Instrs[*ssa.Call](f) {
			if m, ok := kube.Called(&call.Call); ok && m.Recv != nil && kube.IsFactory(m.Recv.Type()) && (m.Name == "Start" || m.Name == "StartWithContext") {
				starts = append(starts, call)
			} else if factory, names := kube.Chain(call); factory != nil {
				requests = append(requests, request{call, factory, names})
			}
		}
		for _, start := range starts {
			check(pass, start, starts, requests)
		}
	}
	return nil, nil
}

func check(pass *analysis.Pass, start *ssa.Call, starts []*ssa.Call, requests []request) {
	factory := recv(start)
	if shared(factory) {
		return
	}
	known := map[string]bool{}
	for _, r := range requests {
		if ir.Same(r.factory, factory) && !ir.Dominates(start, r.call) {
			known[r.names] = true
		}
	}
	for _, r := range requests {
		if m, _ := kube.Called(&r.call.Call); m.Name != "Informer" && m.Name != "Lister" || known[r.names] {
			continue
		}
		if !ir.Same(r.factory, factory) || !ir.Dominates(start, r.call) || restarted(factory, r.call, starts) {
			continue
		}
		known[r.names] = true
		pass.Reportf(r.call.Pos(), "%s is requested after Start of its factory, and stays empty until another Start", r.names)
	}
}

func recv(call *ssa.Call) ssa.Value {
	m, _ := kube.Called(&call.Call)
	return m.Recv
}

// restarted reports whether a factory may be started again after a request.
func restarted(factory ssa.Value, request *ssa.Call, starts []*ssa.Call) bool {
	for _, start := range starts {
		if ir.Same(recv(start), factory) && ir.Reaches(request, start) {
			return true
		}
	}
	return false
}

// shared reports whether a factory is not local, or is passed to others, which may request informers before and start them later.
func shared(factory ssa.Value) bool {
	created, ok := ir.Unwrap(factory).(*ssa.Call)
	if !ok {
		return true
	}
	for _, ref := range *created.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Call:
			if m, ok := kube.Called(&ref.Call); !ok || m.Recv != created {
				return true
			}
		case *ssa.DebugRef:
		default:
			return true
		}
	}
	return false
}
