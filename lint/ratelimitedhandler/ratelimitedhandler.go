// Package ratelimitedhandler finds event handlers that add to a queue with a backoff.
package ratelimitedhandler

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/informer-exporter/informer-exporter/lint/internal/handlers"
	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find AddRateLimited in event handlers

AddRateLimited is for retries: it counts as a failure of the item and delays it. In an event handler, an object that changes often is
delayed up to minutes, and all objects share the overall rate limit of ten per second.

Wrong:

	AddFunc: func(obj any) { queue.AddRateLimited(key(obj)) },

Right:

	AddFunc: func(obj any) { queue.Add(key(obj)) },`

// Analyzer finds AddRateLimited in event handlers.
var Analyzer = &analysis.Analyzer{
	Name:     "ratelimitedhandler",
	Doc:      doc,
	Requires: []*analysis.Analyzer{ir.Analyzer, handlers.Analyzer},
	Run:      run,
}

// depth is how many calls are followed from a handler.
const depth = 3

func run(pass *analysis.Pass) (any, error) {
	if hasLimiter(pass.Pkg.Scope()) {
		return nil, nil
	}
	reported := map[token.Pos]bool{}
	for _, h := range handlers.Of(pass) {
		if h.Kind == handlers.Filter || h.Kind == handlers.Map || h.Kind == handlers.Transform {
			continue
		}
		for _, f := range ir.Of(pass).Reached(h.Func, depth) {
			for call := range ir.Calls(f) {
				m, ok := kube.Called(call.Common())
				if ok && m.OfQueue("AddRateLimited") && !reported[call.Pos()] && !retries(call) {
					reported[call.Pos()] = true
					pass.Reportf(call.Pos(), "AddRateLimited in an event handler delays the event as if its item had failed: use Add")
				}
			}
		}
	}
	return nil, nil
}

// retries reports whether an instruction runs only after an error.
func retries(instr ssa.Instruction) bool {
	for cond, value := range ir.Guards(instr) {
		if v, notNil := ir.NotNil(cond); v != nil && kube.IsError(v.Type()) && value == notNil {
			return true
		}
	}
	return false
}

// hasLimiter reports whether a package has a rate limiter of its own: its delay may be the purpose of AddRateLimited.
func hasLimiter(scope *types.Scope) bool {
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if ok && kube.HasMethod(t.Type(), "When") && kube.HasMethod(t.Type(), "NumRequeues") {
			return true
		}
	}
	return false
}
