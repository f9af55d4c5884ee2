// Package syncignored finds ignored results of waits for the initial sync.
package syncignored

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/informer-exporter/informer-exporter/lint/internal/ir"
	"github.com/informer-exporter/informer-exporter/lint/internal/kube"
)

const doc = `find ignored results of waits for the initial sync

WaitForCacheSync returns early, and false, if its context ends or its channel closes first. A program that ignores this works with a
cache that is not complete, and may delete what it does not find there.

Wrong:

	cache.WaitForCacheSync(ctx.Done(), pods.HasSynced)
	go c.worker(ctx)

Right:

	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced) {
		return
	}
	go c.worker(ctx)`

// Analyzer finds ignored results of waits for the initial sync.
var Analyzer = &analysis.Analyzer{Name: "syncignored", Doc: doc, Run: run}

func run(pass *analysis.Pass) (any, error) {
	for _, file := range pass.Files {
		ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
			switch n := n.(type) {
			case *ast.ExprStmt:
				if call, ok := n.X.(*ast.CallExpr); ok {
					check(pass, call, stack)
				}
			case *ast.AssignStmt:
				if len(n.Lhs) == 1 && len(n.Rhs) == 1 && isBlank(n.Lhs[0]) {
					if call, ok := n.Rhs[0].(*ast.CallExpr); ok {
						check(pass, call, nil)
					}
				}
			}
			return true
		})
	}
	return nil, nil
}

func isBlank(e ast.Expr) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == "_"
}

func check(pass *analysis.Pass, call *ast.CallExpr, stack []ast.Node) {
	f, ok := typeutil.Callee(pass.TypesInfo, call).(*types.Func)
	if !ok || !waits(f) || ir.InTest(pass, call.Pos()) { // a test without its objects fails anyway
		return
	}
	d := analysis.Diagnostic{Pos: call.Pos(), End: call.End(), Message: "the result of " + f.Name() + " is ignored: the cache may not be synced"}
	if stack != nil && isBool(f) && returnsNothing(stack) {
		d.SuggestedFixes = []analysis.SuggestedFix{{Message: "Return if the cache is not synced", TextEdits: []analysis.TextEdit{
			{Pos: call.Pos(), End: call.Pos(), NewText: []byte("if !")},
			{Pos: call.End(), End: call.End(), NewText: []byte(" {\nreturn\n}")},
		}}}
	}
	pass.Report(d)
}

// waits reports whether a function waits for, or reports, the initial sync.
func waits(f *types.Func) bool {
	recv := f.Signature().Recv()
	if f.Signature().Results().Len() != 1 || f.Pkg() == nil {
		return false
	}
	switch {
	case recv == nil:
		return f.Pkg().Path() == kube.Cache && strings.HasPrefix(f.Name(), "WaitFor") && strings.Contains(f.Name(), "CacheSync") && isBool(f)
	case f.Name() == "HasSynced":
		return kube.IsInformer(recv.Type()) && isBool(f)
	case strings.HasPrefix(f.Name(), "WaitForCacheSync"):
		return kube.IsFactory(recv.Type()) || strings.HasPrefix(f.Pkg().Path(), kube.Runtime+"cache")
	}
	return false
}

func isBool(f *types.Func) bool {
	results := f.Signature().Results()
	return results.Len() == 1 && types.Identical(results.At(0).Type(), types.Typ[types.Bool])
}

// returnsNothing reports whether the innermost function of a stack has no results.
func returnsNothing(stack []ast.Node) bool {
	for i := len(stack) - 1; i >= 0; i-- {
		switch n := stack[i].(type) {
		case *ast.FuncLit:
			return n.Type.Results == nil
		case *ast.FuncDecl:
			return n.Type.Results == nil
		}
	}
	return false
}
