// Package factoryshutdown finds factories with goroutines that outlive the function that stops them.
package factoryshutdown

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find factories that are started and stopped, and not shut down

Informers stop some time after their context or channel. A function that makes a factory, starts it and stops it returns before that,
unless it calls Shutdown: watches and memory of several calls add up.

Wrong:

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory.Start(ctx.Done())

Right:

	ctx, cancel := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer cancel()
	factory.Start(ctx.Done())`

// Analyzer finds factories that are started and stopped, and not shut down.
var Analyzer = &analysis.Analyzer{
	Name:     "factoryshutdown",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	for _, f := range ir.Of(pass).Funcs {
		// The goroutines of a program end with it, and those of a test hardly matter.
		if f.Name() == "main" || ir.InTest(pass, f.Pos()) {
			continue
		}
		stopped := stops(f)
		for factory := range ir.Instrs[*ssa.Call](f) {
			if factory.Call.StaticCallee() != nil && kube.IsFactory(factory.Type()) && kube.HasMethod(factory.Type(), "Shutdown") && leaks(factory, stopped) {
				pass.Reportf(factory.Pos(), "this function starts and stops the factory, and returns before its informers have ended: call Shutdown")
			}
		}
	}
	return nil, nil
}

// stops returns the channels that a function closes when it returns, and the calls with contexts that it cancels.
func stops(f *ssa.Function) map[ssa.Value]bool {
	all := map[ssa.Value]bool{}
	for d := range ir.Instrs[*ssa.Defer](f) {
		if b, ok := d.Call.Value.(*ssa.Builtin); ok && b.Name() == "close" {
			all[origin(d.Call.Args[0])] = true
		} else if kube.Is(d.Call.Value.Type(), "context", "CancelFunc") {
			all[origin(d.Call.Value)] = true
		}
	}
	return all
}

// origin returns the channel, or the call that made the context, from which a value comes.
func origin(v ssa.Value) ssa.Value {
	switch w := ir.Unwrap(v).(type) {
	case *ssa.Extract:
		return w.Tuple
	case *ssa.UnOp:
		if stores := ir.Stores(w.X); len(stores) == 1 {
			return origin(stores[0].Val)
		}
	case *ssa.Call:
		if m, ok := kube.Called(&w.Call); ok && m.Name == "Done" && kube.Is(m.Recv.Type(), "context", "Context") {
			return origin(m.Recv)
		}
	default:
		return w
	}
	return v
}

// leaks reports whether a factory is started until one of some values stops it, and neither shut down nor passed to others.
func leaks(factory *ssa.Call, stopped map[ssa.Value]bool) bool {
	started := false
	for _, ref := range *factory.Referrers() {
		switch ref := ref.(type) {
		case ssa.CallInstruction:
			m, ok := kube.Called(ref.Common())
			if !ok || m.Recv != factory || m.Name == "Shutdown" {
				return false
			}
			if m.Name == "Start" || m.Name == "StartWithContext" {
				started = started || stopped[origin(m.Args[0])]
			}
		case *ssa.DebugRef:
		default:
			return false
		}
	}
	return started
}
